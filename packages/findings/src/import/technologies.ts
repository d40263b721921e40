/** The technology of a header `Server`: `nginx:1.22.1` of `nginx/1.22.1 (Debian)`. */
export const serverTechnology = (server: string): string => (server.split(' ')[0] ?? '').replace('/', ':')

/** What nmap adds to the name of a product to say what it is. */
const KIND =
  /\s+(httpd|smtpd|ftpd|sshd|imapd|pop3d|telnetd|rsyncd|mysqld|DB|http(?: admin| proxy)?|key-value store)$/

/** A product of nmap with its version, as httpx and whatweb write it: `Apache:2.4.57` of `Apache httpd`, `2.4.57`. */
export const productTechnology = (product: string, version: string): string => {
  const name = product.trim().replace(KIND, '')
  // `9.2p1 Debian 2+deb12u7`
  const [number = ''] = version.trim().split(/[\s,]/)
  return name === '' || !/\d/.test(number) ? name : `${name}:${number}`
}
