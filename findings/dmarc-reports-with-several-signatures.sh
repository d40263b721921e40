#!/usr/bin/env bash
# Receivers of mail report who sent in the name of a domain, once a day, in XML. A record has any number of results of DKIM, one for each signature, down to none, and any number of reasons for an exception (RFC 7489, appendix C).
# One would guess that readers of these reports return the results of each record.
# DMARCReporting (PyPI) shows the first result that is not "pass", and "pass" where there is none: mail without a signature passes DKIM, and mail with a good and a bad signature does not.
# dmarcparser (PyPI) keeps the first signature. dmarc-report-parser (npm) refuses the whole report for a record with two reasons.
# A list of senders made with them calls a forger signed, or a forwarder of a list a failure.
# parsedmarc (PyPI) returns all of them.
# Seen with DMARCReporting 0.3.1, dmarcparser 0.1 and dmarc-report-parser 0.1.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" dmarc-report-parser@0.1.5
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check DMARCReporting==0.3.1 dmarcparser==0.1
cat > report.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <version>1.0</version>
  <report_metadata><org_name>Receiver</org_name><email>dmarc@receiver.example</email><report_id>1</report_id><date_range><begin>1767225600</begin><end>1767311999</end></date_range></report_metadata>
  <policy_published><domain>example.com</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>none</sp><pct>100</pct></policy_published>
  <record>
    <row><source_ip>192.0.2.1</source_ip><count>3</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row>
    <identifiers><header_from>example.com</header_from></identifiers>
    <auth_results>
      <dkim><domain>example.com</domain><selector>a</selector><result>pass</result></dkim>
      <dkim><domain>list.example.org</domain><selector>b</selector><result>fail</result></dkim>
      <spf><domain>list.example.org</domain><result>pass</result></spf>
    </auth_results>
  </record>
  <record>
    <row><source_ip>198.51.100.9</source_ip><count>2</count><policy_evaluated><disposition>quarantine</disposition><dkim>fail</dkim><spf>fail</spf></policy_evaluated></row>
    <identifiers><header_from>example.com</header_from></identifiers>
    <auth_results><spf><domain>example.net</domain><result>softfail</result></spf></auth_results>
  </record>
</feedback>
XML
sed 's,<spf>fail</spf></policy,<spf>fail</spf><reason><type>mailing_list</type></reason><reason><type>local_policy</type></reason></policy,' report.xml > reasons.xml
mkdir reports
python3 -m zipfile -c reports/report.zip report.xml
cat > read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { parseDmarcReportsFromXml } = require('dmarc-report-parser')

;(async () => {
  for (const file of ['report.xml', 'reasons.xml']) {
    const records = await parseDmarcReportsFromXml([readFileSync(file, 'utf8')]).then(({ reports }) => reports.flatMap(({ record }) => record), () => [])
    console.log(`dmarc-report-parser, ${file}:`, records.length, 'records,', ...records.map(({ row, authResults }) => `${row.sourceIp} ${(authResults.dkim ?? []).map(({ result }) => result)}`))
  }
})()
JS
cat > read.py <<'PY'
import subprocess

from dmarcparser.parser import aggregate_report_from_xml

for record in aggregate_report_from_xml(open('report.xml', 'rb').read()).records:
    print('dmarcparser:', record.rows[0].source_ip, record.auth_results.dkim.result)
for line in subprocess.run(['venv/bin/DMARCReporting', '-a', 'reports'], capture_output=True, text=True).stdout.splitlines():
    for address in ('192.0.2.1', '198.51.100.9'):
        if address in line:
            print('DMARCReporting:', *line.split()[2:])
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='dmarc-report-parser, report.xml: 2 records, 192.0.2.1 pass,fail 198.51.100.9 
dmarc-report-parser, reasons.xml: 0 records,
dmarcparser: 192.0.2.1 pass
dmarcparser: 198.51.100.9 
DMARCReporting: 192.0.2.1 Unknown host example.com list.example.org none pass fail fail pass 3 reports/report.zip
DMARCReporting: 198.51.100.9 Unknown host example.com example.net quarantine fail pass fail softfail 2 reports/report.zip'
printf 'expected: pass and fail for 192.0.2.1, no signature for 198.51.100.9\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
