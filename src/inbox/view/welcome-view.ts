import { html } from 'ghtml';
import { icon } from './icons.ts';

/** What stands beside the list while no message is open: how a program reads the same messages. */
export function renderWelcome(origin: string): string {
  const command = `curl -G ${origin}/inbox/api/messages \\\n  -H "Authorization: Bearer $INBOX_TOKEN" \\\n  -d to=reader@example.com -d wait=30`;
  return html`<div class="welcome">
  <span class="welcome-mark">!${icon('envelope')}</span>
  <h2>Every message stays here</h2>
  <p>The service delivers to this inbox instead of the outside world. Choose a message to see it as its reader would, with its text, its links and every header.</p>
  <h3>From a test</h3>
  <p>Waits until a message for this reader is there, and answers it as JSON:</p>
  <pre class="command" tabindex="0"><code>${command}</code></pre>
</div>`;
}
