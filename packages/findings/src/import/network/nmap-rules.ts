import type { Severity } from '@scanfarm/contracts'

/** A result of a script or service detection that is a weakness by itself. */
export interface Weakness {
  readonly severity: Severity
  readonly title: string
  /** The reason for the severity. */
  readonly why: string
}

export interface Rule extends Weakness {
  /** What the script prints in this case. */
  readonly pattern: RegExp
}

/** A table of rules, most severe first, by the id of the script. The first rule that matches applies. */
export const RULES: Readonly<Record<string, readonly Rule[]>> = {
  'ftp-anon': [
    {
      pattern: /Anonymous FTP login allowed[^]*\[NSE: writeable\]/,
      severity: 'high',
      title: 'Anonymous FTP login with write access',
      why: 'Anyone can read, add and replace files. Switch off anonymous logins, or at least writing.',
    },
    {
      pattern: /Anonymous FTP login allowed/,
      severity: 'medium',
      title: 'Anonymous FTP login',
      why: 'Anyone can read the files. Switch off anonymous logins if the files are not for everyone.',
    },
  ],
  'ftp-bounce': [
    {
      pattern: /bounce working!/,
      severity: 'medium',
      title: 'FTP server connects to other hosts for its clients',
      why: 'Other hosts can be scanned and reached through the server. Allow PORT to the address of the client only.',
    },
  ],
  'redis-info': [
    {
      pattern: /^ *Version:/m,
      severity: 'critical',
      title: 'Redis without password',
      why: 'Anyone can read and change all data, and often run commands. Set a password, close the port to others.',
    },
  ],
  'mongodb-info': [
    {
      pattern: /^ *uptime = /m,
      severity: 'critical',
      title: 'MongoDB without authentication',
      why: 'Anyone can read and change all data. Switch on authorization, and close the port to others.',
    },
  ],
  'mongodb-databases': [
    {
      pattern: /^ *sizeOnDisk = /m,
      severity: 'critical',
      title: 'MongoDB without authentication',
      why: 'Anyone can read and change all data. Switch on authorization, and close the port to others.',
    },
  ],
  'memcached-info': [
    {
      pattern: /Authentication: no/,
      severity: 'high',
      title: 'Memcached without authentication',
      why: 'Anyone can read and change the cached data. Let it listen on private addresses only.',
    },
  ],
  'mysql-empty-password': [
    {
      pattern: /root account has empty password/,
      severity: 'critical',
      title: 'MySQL root account without password',
      why: 'Anyone can read and change all data. Set a password, and allow root from the host only.',
    },
    {
      pattern: /account has empty password/,
      severity: 'high',
      title: 'MySQL account without password',
      why: 'Anyone can log in to the database. Set a password, or remove the account.',
    },
  ],
  'ms-sql-empty-password': [
    {
      pattern: /Login Success/,
      severity: 'critical',
      title: 'SQL Server administrator without password',
      why: 'Anyone can read and change all data, and run commands on the host. Set a password.',
    },
  ],
  'docker-version': [
    {
      pattern: /ApiVersion:/,
      severity: 'critical',
      title: 'Docker API without authentication',
      why: 'Anyone can start containers with access to the host. Close the port, or ask for certificates (TLS).',
    },
  ],
  'http-git': [
    {
      pattern: /\.git\/\S+ matched patterns/,
      severity: 'high',
      title: 'Git repository with possible credentials is served',
      why: 'The source code and words that indicate passwords are readable. Refuse /.git/, change the passwords.',
    },
    {
      pattern: /^ *Git repository found!/m,
      severity: 'medium',
      title: 'Git repository is served',
      why: 'The source code and its history are readable. Refuse /.git/ in the web server.',
    },
    {
      pattern: /Potential Git repository found/,
      severity: 'low',
      title: 'Files of a Git repository are served',
      why: 'Some files of a repository answer, the others do not. Refuse /.git/ in the web server.',
    },
  ],
  'http-config-backup': [
    {
      pattern: / 200 /,
      severity: 'high',
      title: 'Backup of a configuration file is served',
      why: 'Such files contain passwords of databases. Remove the file, and change the passwords.',
    },
  ],
  'http-passwd': [
    {
      pattern: /Directory traversal found/,
      severity: 'high',
      title: 'Files outside of the web root are served',
      why: 'All files of the web server’s user are readable. Update or correct the application.',
    },
  ],
  'http-default-accounts': [
    {
      pattern: /^ *\[[^\]\n]+\] at \S+\n *\S*:/m,
      severity: 'critical',
      title: 'Web application with a default password',
      why: 'Anyone can log in, often as the administrator. Change the password.',
    },
  ],
  'http-ls': [
    {
      pattern: /Volume \//,
      severity: 'low',
      title: 'Folder listing',
      why: 'Names of files that no page links to are readable. Switch off listings.',
    },
  ],
  'http-trace': [
    {
      pattern: /TRACE is enabled/,
      severity: 'low',
      title: 'HTTP method TRACE is enabled',
      why: 'Responses repeat the headers of the request; browsers no longer allow to use this. Switch off TRACE.',
    },
  ],
  'http-open-proxy': [
    {
      pattern: /Potentially OPEN proxy/,
      severity: 'high',
      title: 'Open HTTP proxy',
      why: 'Anyone can reach other hosts through the server, including internal ones. Ask for a login.',
    },
  ],
  'socks-open-proxy': [
    {
      pattern: /status: open/,
      severity: 'high',
      title: 'Open SOCKS proxy',
      why: 'Anyone can reach other hosts through the server, including internal ones. Ask for a login.',
    },
  ],
  'smtp-open-relay': [
    {
      pattern: /Server is an open relay/,
      severity: 'high',
      title: 'Open mail relay',
      why: 'Anyone can send mail to any address in the name of the server. Relay for own hosts and logins only.',
    },
  ],
  'dns-recursion': [
    {
      pattern: /Recursion appears to be enabled/,
      severity: 'medium',
      title: 'DNS server resolves names for anyone',
      why: 'Servers on the Internet that do so amplify attacks on others. Answer own networks only.',
    },
  ],
  'ntp-monlist': [
    {
      pattern: /(Public|Private) (Servers|Peers|Clients) \(/,
      severity: 'medium',
      title: 'NTP server lists its peers and clients',
      why: 'The response is much larger than the request, so that it amplifies attacks on others. Disable monlist.',
    },
  ],
  'snmp-brute': [
    {
      pattern: /Valid credentials/,
      severity: 'high',
      title: 'SNMP community that can be guessed',
      why: 'Anyone can read the configuration of the host, and change it if the community allows to write.',
    },
  ],
  'snmp-sysdescr': [
    {
      pattern: /System uptime:/,
      severity: 'medium',
      title: 'SNMP with a community that nmap knows',
      why: 'The configuration of the host is readable with the community public. Use SNMPv3, or another community.',
    },
  ],
  'tftp-enum': [
    {
      pattern: /\S/,
      severity: 'medium',
      title: 'TFTP server with files that can be guessed',
      why: 'TFTP has no authentication. Serve only files that are for everyone, or close the port.',
    },
  ],
  'mqtt-subscribe': [
    {
      pattern: /Topics and their most recent payloads/,
      severity: 'medium',
      title: 'MQTT broker without authentication',
      why: 'Anyone can read the messages. Ask for a login.',
    },
  ],
  'nfs-showmount': [
    {
      pattern: /^ *\/\S*( +(\*|\(everyone\)|0\.0\.0\.0\/0(\.0\.0\.0)?))? *$/m,
      severity: 'high',
      title: 'NFS export for any host',
      why: 'Any host can mount it; NFS trusts the user ids that clients name. Name the hosts in the export.',
    },
  ],
  'rsync-list-modules': [
    {
      pattern: /\S/,
      severity: 'low',
      title: 'rsync lists its modules',
      why: 'Names are readable without a login; modules without a password are readable too. Set auth users.',
    },
  ],
  'smb-security-mode': [
    {
      pattern: /message_signing: disabled/,
      severity: 'medium',
      title: 'SMB signing is disabled',
      why: 'Logins can be relayed to the server. Require signing.',
    },
  ],
  'smb2-security-mode': [
    {
      pattern: /signing is disabled/,
      severity: 'medium',
      title: 'SMB signing is disabled',
      why: 'Logins can be relayed to the server. Require signing.',
    },
    {
      pattern: /signing enabled but not required/,
      severity: 'medium',
      title: 'SMB signing is not required',
      why: 'Logins can be relayed to the server. Require signing.',
    },
  ],
  sshv1: [
    {
      pattern: /supports SSHv1/,
      severity: 'high',
      title: 'SSH version 1 is enabled',
      why: 'Its encryption can be broken by a host on the way. Allow version 2 only.',
    },
  ],
  'vnc-info': [
    {
      pattern: /Server does not require authentication/,
      severity: 'critical',
      title: 'VNC without authentication',
      why: 'Anyone can see and control the screen. Set a password, and close the port to others.',
    },
  ],
  'x11-access': [
    {
      pattern: /X server access is granted/,
      severity: 'critical',
      title: 'X server without authentication',
      why: 'Anyone can see and control the screen, and read the keyboard. Start X with -nolisten tcp.',
    },
  ],
  'ssl-enum-ciphers': [
    {
      pattern: /least strength: F/,
      severity: 'high',
      title: 'TLS ciphers without protection',
      why: 'nmap gives the grade F to ciphers without encryption or authentication, and to broken ones.',
    },
    {
      pattern: /least strength: [C-E]/,
      severity: 'medium',
      title: 'Weak TLS ciphers',
      why: 'nmap gives the grades C to E to ciphers with known attacks, like 3DES and RC4.',
    },
  ],
}
