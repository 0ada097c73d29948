interface SnippetFacts {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string;
  readonly accountId: string;
  readonly templateId: string;
  /** Examples of the required fields. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A locale of the template's variants; undefined if it has none. */
  readonly locale?: string | undefined;
}

interface Snippet {
  readonly id: string;
  readonly name: string;
  readonly code: string;
}

/** Code samples for the send operation. Secrets come from environment variables. */
export function snippets(facts: SnippetFacts): Snippet[] {
  return [
    { id: 'curl', name: 'curl', code: curl(facts) },
    { id: 'typescript', name: 'TypeScript', code: typescript(facts) },
    { id: 'python', name: 'Python', code: python(facts) },
    { id: 'php', name: 'PHP', code: php(facts) },
  ];
}

function body(facts: SnippetFacts, indent: number): string {
  return JSON.stringify(
    {
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: facts.values, locale: facts.locale },
      actions: { trackOpens: false, trackClicks: false },
    },
    null,
    indent,
  );
}

/** What the examples leave out. */
const optional =
  'Optional: files in content.attachments; a later time in actions.sendAt, such as 2030-01-31T09:00:00Z.';

function sendUrl({ url, accountId, templateId }: SnippetFacts): string {
  return `${url}/ete/v1/email/${accountId}/${templateId}`;
}

/** Quotes any text as a POSIX shell word. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The send operation with an API key, as one command. */
export function curlWithKey(facts: SnippetFacts, key: string): string {
  return `curl ${quote(sendUrl(facts))} \\
  -H ${quote(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quote(body(facts, 2))}`;
}

function curl(facts: SnippetFacts): string {
  return `# A token is valid for an hour. Reuse it, then use its refresh token.
TOKEN=$(curl -s ${facts.url}/token -d grant_type=password \\
  --data-urlencode "username=$SIGNALPOST_USER" --data-urlencode "password=$SIGNALPOST_PASSWORD" \\
  --data-urlencode "client_id=$SIGNALPOST_CLIENT_ID" --data-urlencode "client_secret=$SIGNALPOST_SECRET" \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

# ${optional}
curl -s ${sendUrl(facts)} \\
  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(date +%s)-$$" \\
  -d ${quote(body(facts, 2))}
`;
}

function typescript(facts: SnippetFacts): string {
  return `import { randomUUID } from 'node:crypto';

const { SIGNALPOST_USER, SIGNALPOST_PASSWORD, SIGNALPOST_CLIENT_ID, SIGNALPOST_SECRET } = process.env;

// A token is valid for an hour. Reuse it, then use its refresh token.
const token = await fetch('${facts.url}/token', {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'password',
    username: SIGNALPOST_USER ?? '',
    password: SIGNALPOST_PASSWORD ?? '',
    client_id: SIGNALPOST_CLIENT_ID ?? '',
    client_secret: SIGNALPOST_SECRET ?? '',
  }),
}).then((response) => response.json());

// ${optional}
const answer = await fetch('${sendUrl(facts)}', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${token.access_token}\`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  },
  body: JSON.stringify(${body(facts, 2).replaceAll('\n', '\n  ')}),
});
console.log(answer.status, await answer.json());
`;
}

/** Converts JSON to a Python literal. */
function pythonBody(facts: SnippetFacts): string {
  return body(facts, 4).replaceAll(/^(\s*"track\w+": )false/gm, '$1False');
}

function python(facts: SnippetFacts): string {
  return `import os, uuid
import requests

# A token is valid for an hour. Reuse it, then use its refresh token.
token = requests.post("${facts.url}/token", data={
    "grant_type": "password",
    "username": os.environ["SIGNALPOST_USER"],
    "password": os.environ["SIGNALPOST_PASSWORD"],
    "client_id": os.environ["SIGNALPOST_CLIENT_ID"],
    "client_secret": os.environ["SIGNALPOST_SECRET"],
}, timeout=10).json()

# ${optional}
answer = requests.post(
    "${sendUrl(facts)}",
    headers={
        "Authorization": f"Bearer {token['access_token']}",
        "Idempotency-Key": str(uuid.uuid4()),
    },
    json=${pythonBody(facts).replaceAll('\n', '\n    ')},
    timeout=10,
)
print(answer.status_code, answer.json())
`;
}

function php(facts: SnippetFacts): string {
  return `<?php
function post(string $url, array $headers, string $body): array {
    $request = curl_init($url);
    curl_setopt_array($request, [
        CURLOPT_POST => true,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 10,
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_POSTFIELDS => $body,
    ]);
    return json_decode(curl_exec($request), true);
}

// A token is valid for an hour. Reuse it, then use its refresh token.
$token = post('${facts.url}/token', [], http_build_query([
    'grant_type' => 'password',
    'username' => getenv('SIGNALPOST_USER'),
    'password' => getenv('SIGNALPOST_PASSWORD'),
    'client_id' => getenv('SIGNALPOST_CLIENT_ID'),
    'client_secret' => getenv('SIGNALPOST_SECRET'),
]));

// ${optional}
print_r(post('${sendUrl(facts)}', [
    "Authorization: Bearer {$token['access_token']}",
    'Content-Type: application/json',
    'Idempotency-Key: ' . bin2hex(random_bytes(16)),
], <<<'JSON'
${body(facts, 4)}
JSON));
`;
}
