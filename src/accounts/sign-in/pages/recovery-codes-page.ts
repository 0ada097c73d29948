import { html } from '../../../base/values/html.ts';
import { errorBox, openForm, type Page, type StepPage } from './layout.ts';
import { copyScript } from './page-script.ts';

/** Shows new recovery codes. They can't be shown again. */
export function recoveryCodesPage(codes: readonly string[]): Page {
  const title = 'Save your recovery codes';
  const items = codes.map((code) => html`<li><code>${code}</code></li>`);
  const body = html`<h1>${title}</h1>
<p class="note" role="status">Your second factor is on.</p>
<p id="codes">If you lose your authenticator app or passkey, sign in with one of these codes instead. Each works once.</p>
<ul class="codes" aria-labelledby="codes">${items}</ul>
<p>You won’t see them again. Print them or store them in a password manager, not only on your phone.</p>
<p class="actions" data-copy="${codes.join('\n')}"><button type="button" class="quiet small" hidden>Copy</button><a class="button quiet small" download="signalpost-recovery-codes.txt" href="data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}">Download</a></p>
<div class="actions"><a class="button" href="/me">I’ve saved them</a></div>`;
  return { title, body, script: copyScript };
}

/** Asks for a recovery code instead of the authenticator's code. */
export function recoveryCodePage(page: StepPage): Page {
  const failed = page.error !== undefined;
  const body = html`<h1>Use a recovery code</h1>
${errorBox(page.error)}
${openForm('/sign-in/recovery-code', { csrf: page.csrf, next: page.next })}
<label for="code">Recovery code</label>
<input id="code" name="code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" required aria-describedby="hint${failed ? ' problem' : ''}" ${failed ? html`aria-invalid="true"` : ''}>
<p id="hint" class="soft">A code you saved when you turned on the second factor. It works once. If you’ve lost these too, ask an operator of this service.</p>
<div class="actions"><button type="submit">Continue</button></div>
</form>
<p class="foot"><a href="/sign-in/code?${new URLSearchParams({ next: page.next }).toString()}">Use your second factor instead</a></p>`;
  return {
    title: failed ? 'Use a recovery code: try again' : 'Use a recovery code',
    body,
    status: page.status ?? 200,
  };
}
