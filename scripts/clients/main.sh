#!/bin/bash
# Generates clients from the OpenAPI document with four generators and makes three calls with each: list runs, start a
# run, read it. Ends with "4 of 4 clients work"; exit code 1 otherwise.
#
#   bash scripts/clients/main.sh                        starts a server with a database for itself
#   SCANFARM_URL=… SCANFARM_TOKEN=… bash scripts/clients/main.sh   uses a running one; the token needs the role operator
#
# Requires java, mvn, go and python3 with venv. The generators are installed into .cache/clients.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tools=$root/.cache/clients
work=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" || true; fi
  rm -rf "$work"
}
trap cleanup EXIT
for program in java mvn go python3 curl; do
  command -v "$program" >/dev/null || { echo "clients: $program is missing: install it" >&2; exit 2; }
done

OPENAPI_GENERATOR=7.10.0
OAPI_CODEGEN=v2.8.2
OPENAPI_PYTHON_CLIENT=0.29.1

install_tools() {
  mkdir -p "$tools"
  jar=$tools/openapi-generator-cli-$OPENAPI_GENERATOR.jar
  if [ ! -e "$jar" ]; then
    (cd "$tools" && mvn --quiet --batch-mode dependency:copy -DoutputDirectory="$tools" \
      -Dartifact="org.openapitools:openapi-generator-cli:$OPENAPI_GENERATOR")
  fi
  [ -x "$tools/oapi-codegen" ] || GOBIN=$tools go install \
    "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI_CODEGEN"
  if [ ! -e "$tools/python/complete" ]; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check \
      "openapi-python-client==$OPENAPI_PYTHON_CLIENT" 'pydantic>=2' python-dateutil urllib3 typing-extensions lazy-imports
    touch "$tools/python/complete"
  fi
}

start_server() {
  SCANFARM_DATA_DIR=$work/data "$root/scripts/scanfarm" server --port "$1" >"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    if [ -s "$work/data/admin-token" ] && curl -sf "http://127.0.0.1:$1/health/ready" >/dev/null; then
      export SCANFARM_URL=http://127.0.0.1:$1
      SCANFARM_TOKEN=$(cat "$work/data/admin-token")
      export SCANFARM_TOKEN
      return
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.5
  done
  tail -5 "$work/server.log" >&2
  echo 'clients: the server did not start' >&2
  exit 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

generate() { # generator, folder
  java -jar "$jar" generate -g "$1" -i "$work/api.json" -o "$work/$2" --skip-validate-spec >"$work/$2.log" 2>&1
}

openapi_generator_python() {
  generate python python-a
  cat >"$work/a.py" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import openapi_client as api
config = api.Configuration(host=os.environ['SCANFARM_URL'] + '/api', access_token=os.environ['SCANFARM_TOKEN'])
with api.ApiClient(config) as client:
    runs = api.RunsApi(client)
    assert runs.get_runs(limit=5).pagination.limit == 5
    created = runs.post_runs(create_runs=api.CreateRuns(module='port-probe', target='127.0.0.1:9'))
    assert runs.get_runs_id(str(created.run_uuid)).data.target == '127.0.0.1:9'
END
  "$tools/python/bin/python" "$work/a.py" "$work/python-a"
}

openapi_python_client() {
  (cd "$work" && "$tools/python/bin/openapi-python-client" generate --path api.json --meta none \
    --output-path python_b >python-b.log 2>&1)
  cat >"$work/b.py" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
from python_b import AuthenticatedClient
from python_b.api.runs import get_runs, get_runs_id, post_runs
from python_b.models import CreateRuns
client = AuthenticatedClient(base_url=os.environ['SCANFARM_URL'] + '/api', token=os.environ['SCANFARM_TOKEN'])
assert get_runs.sync(client=client, limit=5).pagination.limit == 5
created = post_runs.sync(client=client, body=CreateRuns(module='port-probe', target='127.0.0.1:9'))
assert get_runs_id.sync(client=client, id=str(created.run_uuid)).data.target == '127.0.0.1:9'
END
  "$tools/python/bin/python" "$work/b.py" "$work"
}

openapi_generator_typescript() {
  generate typescript-fetch typescript
  cat >"$work/call.ts" <<'END'
import { Configuration, RunsApi } from './typescript/index'
declare const process: { env: Record<string, string> }
const basePath = process.env.SCANFARM_URL + '/api'
const runs = new RunsApi(new Configuration({ basePath, accessToken: process.env.SCANFARM_TOKEN }))
const check = (ok: boolean) => { if (!ok) throw new Error('a wrong answer') }
const main = async () => {
  check((await runs.getRuns({ limit: 5 })).pagination.limit === 5)
  const created = await runs.postRuns({ createRuns: { module: 'port-probe', target: '127.0.0.1:9' } })
  check((await runs.getRunsId({ id: String(created.runUuid) })).data.target === '127.0.0.1:9')
}
void main()
END
  cat >"$work/tsconfig.json" <<'END'
{ "compilerOptions": { "target": "es2022", "module": "node16", "strict": true, "skipLibCheck": true, "outDir": "js",
  "rootDir": ".", "lib": ["es2022", "dom"], "types": [] }, "include": ["call.ts", "typescript/**/*.ts"] }
END
  "$root/node_modules/.bin/tsc" -p "$work/tsconfig.json"
  node "$work/js/call.js"
}

oapi_codegen() {
  mkdir -p "$work/go"
  cat >"$work/go/main_test.go" <<'END'
package api

import ("context"; "net/http"; "os"; "testing")

func TestCalls(t *testing.T) {
	about := context.Background()
	token := WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("SCANFARM_TOKEN"))
		return nil
	})
	client, err := NewClientWithResponses(os.Getenv("SCANFARM_URL")+"/api", token)
	if err != nil { t.Fatal(err) }
	limit := 5
	list, err := client.GetRunsWithResponse(about, &GetRunsParams{Limit: &limit})
	if err != nil || list.JSON200 == nil || list.JSON200.Pagination.Limit != 5 { t.Fatal(err, list) }
	module, target := "port-probe", "127.0.0.1:9"
	created, err := client.PostRunsWithResponse(about, &PostRunsParams{}, CreateRuns{Module: &module, Target: &target})
	if err != nil || created.JSON202 == nil { t.Fatal(err, string(created.Body)) }
	run, err := client.GetRunsIdWithResponse(about, created.JSON202.RunUuid.String(), &GetRunsIdParams{})
	if err != nil || run.JSON200 == nil || run.JSON200.Data.Target != target { t.Fatal(err, string(run.Body)) }
}
END
  (cd "$work/go" && "$tools/oapi-codegen" -generate types,client -package api -o api.go ../api.json &&
    go mod init generated && go mod tidy && go test ./...) >"$work/go.log" 2>&1
}

install_tools
[ -n "${SCANFARM_URL:-}" ] || start_server "$(free_port)"
curl -sf "$SCANFARM_URL/api/openapi.json" -o "$work/api.json"
works=0
for client in openapi_generator_python openapi_python_client openapi_generator_typescript oapi_codegen; do
  # A function in a condition ignores failures of its commands, so each one runs in a subshell.
  set +e
  (set -e; "$client") >"$work/out.log" 2>&1
  code=$?
  set -e
  if [ $code = 0 ]; then works=$((works + 1)); echo "ok     $client"; continue; fi
  echo "FAILED $client"
  tail -n 15 "$work/out.log" "$work"/*.log | cut -c1-300
done
echo "$works of 4 clients work"
[ "$works" = 4 ]
