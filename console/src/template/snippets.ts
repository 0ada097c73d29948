interface SnippetFacts {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string;
  readonly accountId: string;
  readonly templateId: string;
  /** Examples of the required fields. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A locale of the template's variants; undefined if it has none. */
  readonly locale?: string | undefined;
  /** The recipient; default: an example. */
  readonly to?: string | undefined;
  /** Whether a file is attached. */
  readonly attached?: boolean;
}

interface Snippet {
  readonly id: 'curl' | 'typescript' | 'python' | 'php' | 'ruby' | 'go';
  readonly name: string;
  /** The file to save the program in; undefined for a command. */
  readonly file?: string;
  readonly code: string;
  /** The command that installs what the program needs. */
  readonly install?: string;
  /** The command that runs the program with the key. */
  readonly run?: string;
}

/** The key's place in a sample as long as there is none to show. */
const placeholder = 'sp_…';

/** Programs that send one message: each runs as it is shown, with nothing else installed unless it says so. */
export function snippets(facts: SnippetFacts, key: string | undefined): Snippet[] {
  const withKey = (command: string) => `SIGNALPOST_API_KEY=${quote(key ?? placeholder)} ${command}`;
  return [
    { id: 'curl', name: 'curl', code: curlWithKey(facts, key ?? placeholder) },
    {
      id: 'typescript',
      name: 'TypeScript',
      file: 'send.mts',
      code: typescript(facts),
      install:
        '# In a clone of Signalpost:\n(cd packages/client && npm pack --pack-destination /tmp)\n# In your app:\nnpm install /tmp/signalpost-client-*.tgz',
      run: withKey('node send.mts'),
    },
    {
      id: 'python',
      name: 'Python',
      file: 'send.py',
      code: python(facts),
      run: withKey('python3 send.py'),
    },
    { id: 'php', name: 'PHP', file: 'send.php', code: php(facts), run: withKey('php send.php') },
    { id: 'ruby', name: 'Ruby', file: 'send.rb', code: ruby(facts), run: withKey('ruby send.rb') },
    { id: 'go', name: 'Go', file: 'send.go', code: go(facts), run: withKey('go run send.go') },
  ];
}

const exampleRecipient = 'ada@customer.example';

/** An empty page, as a PDF. */
const samplePdf =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n';

/** The body of the request. It contains neither ' nor `, so that every language can quote it as it is. */
function body({ to = exampleRecipient, values, locale, attached }: SnippetFacts): string {
  const attachments =
    attached === true
      ? [
          {
            filename: 'document.pdf',
            contentType: 'application/pdf',
            content: btoa(samplePdf),
          },
        ]
      : undefined;
  return JSON.stringify(
    {
      envelope: { toAddress: to },
      content: { personalizationDataMap: values, locale, attachments },
      actions: { trackOpens: false, trackClicks: false },
    },
    null,
    2,
  )
    .replaceAll("'", '\\u0027')
    .replaceAll('`', '\\u0060');
}

function sendUrl({ url, accountId, templateId }: SnippetFacts): string {
  return `${url}/ete/v1/email/${accountId}/${templateId}`;
}

/** Quotes any text as a POSIX shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The send operation with an API key, which a shell keeps for more of them. */
export function curlWithKey(facts: SnippetFacts, key: string): string {
  return `export SIGNALPOST_API_KEY=${quote(key)}
curl ${quote(sendUrl(facts))} \\
  -H "Authorization: Bearer $SIGNALPOST_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${quote(body(facts).replaceAll('\n', '\n  '))}`;
}

function typescript(facts: SnippetFacts): string {
  const { url, templateId, to = exampleRecipient, values, locale, attached } = facts;
  const request = [
    `  to: ${JSON.stringify(to)},`,
    `  data: ${JSON.stringify(values, null, 2).replaceAll('\n', '\n  ')},`,
    ...(locale === undefined ? [] : [`  locale: ${JSON.stringify(locale)},`]),
    ...(attached === true
      ? [
          `  attachments: [{
    filename: 'document.pdf',
    contentType: 'application/pdf',
    content: Buffer.from(${JSON.stringify(btoa(samplePdf))}, 'base64'),
  }],`,
        ]
      : []),
  ];
  return `import { Signalpost } from 'signalpost-client';

const signalpost = new Signalpost({
  url: ${JSON.stringify(url)},
  key: process.env.SIGNALPOST_API_KEY ?? '',
});

const { messageId } = await signalpost.send(${JSON.stringify(templateId)}, {
${request.join('\n')}
});
console.log(messageId);
`;
}

function python(facts: SnippetFacts): string {
  return `import os, urllib.error, urllib.request, uuid

request = urllib.request.Request(
    "${sendUrl(facts)}",
    headers={
        "Authorization": "Bearer " + os.environ["SIGNALPOST_API_KEY"],
        "Content-Type": "application/json",
        # A repeated request with the same key sends nothing twice.
        "Idempotency-Key": str(uuid.uuid4()),
    },
    data=r'''${body(facts)}'''.encode(),
)
try:
    print(urllib.request.urlopen(request, timeout=30).read().decode())
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode())
`;
}

function php(facts: SnippetFacts): string {
  return `<?php
$request = curl_init('${sendUrl(facts)}');
curl_setopt_array($request, [
    CURLOPT_TIMEOUT => 30,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('SIGNALPOST_API_KEY'),
        'Content-Type: application/json',
        // A repeated request with the same key sends nothing twice.
        'Idempotency-Key: ' . bin2hex(random_bytes(16)),
    ],
    CURLOPT_POSTFIELDS => <<<'JSON'
${body(facts)}
JSON,
]);
echo curl_exec($request) ?: curl_error($request), "\\n";
exit(curl_getinfo($request, CURLINFO_RESPONSE_CODE) === 200 ? 0 : 1);
`;
}

function ruby(facts: SnippetFacts): string {
  return `require 'net/http'
require 'securerandom'

body = <<'JSON'
${body(facts)}
JSON
response = Net::HTTP.post(
  URI('${sendUrl(facts)}'),
  body,
  'Authorization' => "Bearer #{ENV.fetch('SIGNALPOST_API_KEY')}",
  'Content-Type' => 'application/json',
  # A repeated request with the same key sends nothing twice.
  'Idempotency-Key' => SecureRandom.uuid
)
puts response.body
exit response.is_a?(Net::HTTPOK)
`;
}

function go(facts: SnippetFacts): string {
  return `package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const body = \`${body(facts)}\`

func main() {
	request, err := http.NewRequest(http.MethodPost, "${sendUrl(facts)}", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	once := make([]byte, 16)
	rand.Read(once)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SIGNALPOST_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	// A repeated request with the same key sends nothing twice.
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%x", once))
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
	if response.StatusCode != http.StatusOK {
		os.Exit(1)
	}
}
`;
}
