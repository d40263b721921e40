/** Websites with one mistake each, and two without: their files. */
export const SITES = {
  svn: { '.svn/entries': '12\n\ndir\n42\n' },
  dump: { 'dump.sql': '-- A dump of the shop\ncreate table users (id int);\n' },
  'private-key': { 'server.key': '-----BEGIN PRIVATE KEY-----\nnot a real one\n' },
  htpasswd: { '.htpasswd': 'ada:$apr1$lab$notarealhashofthelab00\n' },
  log: { 'debug.log': '2026-01-31 03:00:00 error: no connection\n' },
  compose: { 'docker-compose.yml': 'services:\n  shop:\n    image: shop\n' },
  metrics: { metrics: '# HELP requests Requests\n# TYPE requests counter\nrequests 1\n' },
  npmrc: { '.npmrc': '//registry.lab.invalid/:_authToken=not-a-real-token\n' },
  source: { 'config.php.bak': '<?php $password = "example";\n' },
  credentials: { 'credentials.json': '{"user": "ada", "password": "example"}\n' },
  history: { '.bash_history': 'cd /srv/shop\nmysql -u shop\n' },
  actuator: { 'actuator/env': '{"propertySources": [{"name": "system"}]}\n' },
  archive: { 'site.zip': 'PK\u0003\u0004 the whole site\n' },
  'admin-page': { 'manage/index.html': '<html><body>Users, orders, settings</body></html>\n' },
  login: {
    'admin/index.html': '<html><body><form>Password <input type="password"></form></body></html>\n',
  },
  // Answers every path with its first page.
  'single-page': { '.env.html': 'not found\n' },
} as const

export type SiteName = keyof typeof SITES

/** What the module content says of them. */
export const MISTAKES: Readonly<
  Partial<Record<SiteName, readonly [check: string, severity: string, path: string]>>
> = {
  svn: ['svn-repository', 'high', '/.svn/entries'],
  dump: ['database-dump', 'high', '/dump.sql'],
  'private-key': ['private-key', 'critical', '/server.key'],
  htpasswd: ['password-file', 'high', '/.htpasswd'],
  log: ['log-file', 'medium', '/debug.log'],
  compose: ['deployment-file', 'medium', '/docker-compose.yml'],
  metrics: ['metrics', 'low', '/metrics'],
  npmrc: ['registry-token', 'high', '/.npmrc'],
  source: ['source-backup', 'high', '/config.php.bak'],
  credentials: ['credentials-file', 'high', '/credentials.json'],
  history: ['shell-history', 'medium', '/.bash_history'],
  actuator: ['spring-environment', 'high', '/actuator/env'],
  archive: ['site-archive', 'high', '/site.zip'],
  'admin-page': ['admin-page', 'medium', '/manage/'],
}
