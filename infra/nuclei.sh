#!/bin/sh
# Commands have an empty home, so nuclei finds neither its templates nor its settings there. Templates that the operator
# installs take precedence over those of the image.
if [ -z "${NUCLEI_TEMPLATES_DIR:-}" ]; then
  NUCLEI_TEMPLATES_DIR=/var/lib/scanfarm/base/external-data/nuclei-templates
  [ -d "$NUCLEI_TEMPLATES_DIR" ] || NUCLEI_TEMPLATES_DIR=/opt/scanfarm/tools/external-data/nuclei-templates
  export NUCLEI_TEMPLATES_DIR
fi
exec /opt/scanfarm/tools/external-binaries/nuclei "$@"
