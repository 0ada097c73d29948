import { type Html, html } from '../../foundation/html.ts';
import { renderCopyButton } from './copy-button.ts';
import { icon } from './icons.ts';

/** Shown next to the list while no message is open; explains how programs read the messages. */
export function renderWelcome(origin: string): Html {
  const command = `curl -G ${origin}/inbox/api/messages \\\n  -H "Authorization: Bearer $INBOX_TOKEN" \\\n  -d to=reader@example.com -d wait=30`;
  return html`<div class="welcome">
  <span class="welcome-mark">${icon('envelope')}</span>
  <h2>Captured mail</h2>
  <p>All mail is captured in this inbox instead of being delivered. Choose a message to see its HTML, text, links and headers.</p>
  <h3>From a test</h3>
  <p>Wait for a message to this recipient and get it as JSON:</p>
  <div class="copied-block"><pre class="command" tabindex="0"><code>${command}</code></pre>${renderCopyButton(command, 'Copy command')}</div>
</div>`;
}
