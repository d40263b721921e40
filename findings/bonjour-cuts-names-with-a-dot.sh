#!/usr/bin/env bash
# Printers, cameras and media players announce themselves by mDNS under a name that people chose, such as "Printer 2.0". One would guess that a browser for mDNS returns this name.
# bonjour-service (npm) splits it at the dots: the device is called "Printer 2", its type is "0" and its protocol "ipp". "Printer 2.1" has the same name, so a list by name has one device of two, and a filter by type neither.
# fqdn is whole, though without an escape for the dot. zeroconf (PyPI) returns both names.
# An inventory of the network then misses devices with a version in their name, and scans that are chosen by type skip them.
# Seen with bonjour-service 1.4.4 and zeroconf 0.154.0, on loopback in a network namespace of its own user.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" bonjour-service@1.4.4
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check zeroconf==0.154.0
cat > announce.py <<'PY'
import signal
import socket

from zeroconf import ServiceInfo, Zeroconf

zeroconf = Zeroconf(interfaces=['127.0.0.1'])
for port, name in ((6310, 'Camera'), (6311, 'Printer 2.0'), (6312, 'Printer 2.1')):
    zeroconf.register_service(ServiceInfo('_ipp._tcp.local.', f'{name}._ipp._tcp.local.', addresses=[socket.inet_aton('127.0.0.1')], port=port, server='device.local.'))
print('ready', flush=True)
signal.pause()
PY
cat > browse.cjs <<'JS'
const { writeFileSync } = require('node:fs')
const { Bonjour } = require('bonjour-service')

const services = []
const bonjour = new Bonjour({ interface: '127.0.0.1', bind: '0.0.0.0' })
bonjour.server.mdns.on('ready', () => writeFileSync('listening', ''))
bonjour.find({ type: 'ipp' }, (service) => {
  services.push(service)
  if (services.length < 3) return
  services.sort((a, b) => a.port - b.port)
  for (const { port, name, type, protocol } of services) console.log(`bonjour-service, ${port}: ${name}, type ${type}, protocol ${protocol}`)
  process.exit()
})
JS
cat > browse.py <<'PY'
import threading

from zeroconf import ServiceBrowser, ServiceListener, Zeroconf

names = []
complete = threading.Event()


class Listener(ServiceListener):
    def add_service(self, zeroconf, kind, name):
        names.append(name)
        if len(names) == 3:
            complete.set()


zeroconf = Zeroconf(interfaces=['127.0.0.1'])
ServiceBrowser(zeroconf, '_ipp._tcp.local.', Listener())
complete.wait()
print('zeroconf:', ' '.join(sorted(names)))
zeroconf.close()
PY
cat > network <<'SH'
set -euo pipefail
ip link set lo up multicast on
ip route add 224.0.0.0/4 dev lo
node browse.cjs &
browser=$!
until [[ -e listening ]]; do sleep 0.1; done
venv/bin/python announce.py > ready &
trap 'kill $!' EXIT
wait "$browser"
venv/bin/python browse.py
SH
seen=$(timeout 60 unshare --map-root-user --net bash network 2> network.log) || { cat network.log >&2; exit 2; }
expected='bonjour-service, 6310: Camera, type ipp, protocol tcp
bonjour-service, 6311: Printer 2, type 0, protocol ipp
bonjour-service, 6312: Printer 2, type 1, protocol ipp
zeroconf: Camera._ipp._tcp.local. Printer 2.0._ipp._tcp.local. Printer 2.1._ipp._tcp.local.'
printf 'bonjour-service 1.4.4, zeroconf 0.154.0\nexpected: Camera, Printer 2.0 and Printer 2.1 of type ipp\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
