/** Debian and Ubuntu packages of programs whose package has another name. */
const PACKAGES: Readonly<Record<string, string>> = {
  ab: 'apache2-utils',
  aws: 'awscli',
  cc: 'gcc',
  dig: 'bind9-dnsutils',
  docker: 'docker.io',
  fdfind: 'fd-find',
  go: 'golang-go',
  host: 'bind9-host',
  ip: 'iproute2',
  ldapsearch: 'ldap-utils',
  mysql: 'default-mysql-client',
  nc: 'netcat-openbsd',
  node: 'nodejs',
  nping: 'nmap',
  nslookup: 'bind9-dnsutils',
  pg_dump: 'postgresql-client',
  ping: 'iputils-ping',
  pip: 'python3-pip',
  pip3: 'python3-pip',
  psql: 'postgresql-client',
  python: 'python-is-python3',
  'redis-cli': 'redis-tools',
  rg: 'ripgrep',
  snmpwalk: 'snmp',
  ssh: 'openssh-client',
  testssl: 'testssl.sh',
  xmllint: 'libxml2-utils',
  xz: 'xz-utils',
}

/** Programs whose package has the same name. */
const SAME_NAME: ReadonlySet<string> = new Set(
  [
    'arp-scan bash bc binwalk bzip2 curl dirb dnsrecon ffuf file fping gawk gcc git',
    'gobuster grep gzip hping3 httpie hydra ike-scan jq john lynx make masscan medusa moreutils mtr nbtscan ncat',
    'ncrack ndiff nmap onesixtyone openssl parallel perl procps python3 recon-ng rsync ruby sed smbclient smbmap socat',
    'sqlite3 sqlmap sslscan tar tcpdump tcptraceroute testssl.sh tmux traceroute tshark unzip vim wafw00f wapiti weevely wfuzz wget',
    'whatweb whois xsltproc yq zip zstd',
  ].flatMap((line) => line.split(' ')),
)

/** Debian packages of these programs. Other programs must come from the image or the setup commands. */
export function packagesFor(tools: readonly string[]): string[] {
  const packages = tools.flatMap((tool) => {
    const other = Object.hasOwn(PACKAGES, tool) ? PACKAGES[tool] : undefined
    return other ?? (SAME_NAME.has(tool) ? tool : [])
  })
  return [...new Set(packages)].sort()
}
