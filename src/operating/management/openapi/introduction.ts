/** The introduction of the API's documentation, in Markdown: from nothing to a first email. */
export const introduction = `Send one email to one person because something happened: a receipt, a password reset, an
invitation. The documentation covers sending, message status and lists, and everything the console does, under \`/manage/v1\`.

## Send your first email

1. In the [console](/console), open **Senders**, add your address and confirm it.
2. Open **Templates**, create one from **Welcome** and publish it.
3. Open **API keys** and create one that can send. It is shown once; keep it in a secret store.
4. Set \`SIGNALPOST_URL\` to the address of this service and \`SIGNALPOST_KEY\` to the key, and send to yourself. Replace the
   account ID \`1001\`, the template ID \`welcome\` and the address:

\`\`\`bash
curl "$SIGNALPOST_URL/ete/v1/email/1001/welcome" \\
  -H "Authorization: Bearer $SIGNALPOST_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "envelope": {
      "toAddress": "you@example.com"
    },
    "content": {
      "personalizationDataMap": {
        "First Name": "Ada",
        "Start Link": "https://example.com/start"
      }
    },
    "metadata": { "transactional": true },
    "actions": {
      "trackOpens": false,
      "trackClicks": false
    }
  }'
\`\`\`

The answer is \`200\` with a \`messageId\` once the message is stored. With it, ask what happened:

\`\`\`bash
curl "$SIGNALPOST_URL/ete/v1/message/1001/MESSAGE_ID" \\
  -H "Authorization: Bearer $SIGNALPOST_KEY"
\`\`\`

## Authentication

Send an API key or an access token as \`Authorization: Bearer …\`. API keys are for your own programs and have the scopes
that you choose. Access tokens from \`/token\` are for OAuth apps; they send, read message status and read lists.

## Send over SMTP

Programs that can’t call the API connect to the host and ports on **SMTP** in the [console](/console), with the account ID as
user name and an API key as password. The message is sent as it came. With the header field \`X-Signalpost-Template\`, its body
is a JSON object with the template’s values; \`X-Signalpost-Tag\`, \`X-Signalpost-Attributes\`, \`X-Signalpost-Send-At\` and
\`X-Signalpost-Idempotency-Key\` say what their namesakes in a request say. \`docs/smtp.md\` has all fields, replies and examples.

## Errors and retries

Every rejected request says what is wrong and what to change. Retry \`429\` and \`503\` after the seconds in \`Retry-After\`.
With an \`Idempotency-Key\`, a request that you repeat is sent once.

## Find an operation

Press \`Ctrl K\` or \`⌘ K\` to search by name, path or field.`;
