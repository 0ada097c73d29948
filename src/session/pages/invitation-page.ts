import { type Html, html } from '../../foundation/html.ts';
import type { OpenInvitation } from '../invitation/invitation-store.ts';
import { errorBox } from './boxes.ts';
import type { Page } from './layout.ts';
import { newPasswordField } from './me-page.ts';
import { passwordScript } from './page-script.ts';

export interface InvitationPage {
  readonly csrf: string;
  readonly invitation: OpenInvitation;
  readonly name?: string | undefined;
  readonly error?: string | undefined;
}

/** Shows who invites to which account, and asks for a password if the person hasn't set one themselves. */
export function invitationPage({ csrf, invitation, name, error }: InvitationPage): Page {
  const { accountName, accountId, email, role, inviterName, inviterEmail } = invitation;
  const body = html`<h1>Join ${accountName}?</h1>
${errorBox(error)}
<p>${inviterName} (${inviterEmail}) invited ${email} to join the account ${accountName} (ID ${accountId}) as ${role === 'owner' ? 'an' : 'a'} ${role}.</p>
<form method="post" action="/invitation">
<input type="hidden" name="csrf" value="${csrf}">
${invitation.established ? html`<p class="soft">You keep your password and sign in as before.</p>` : newSignIn(invitation, name)}
<div class="actions equal"><button type="submit">Accept</button>
<button type="submit" class="quiet first" formaction="/invitation/decline" formnovalidate>Decline</button></div>
</form>`;
  const status = error === undefined ? 200 : 422;
  return { title: 'Invitation', body, script: passwordScript, status };
}

function newSignIn({ personId, name, email }: OpenInvitation, typed: string | undefined): Html {
  const nameField = html`<label for="name">Your name</label>
<input id="name" name="name" type="text" autocomplete="name" maxlength="200" required value="${typed ?? name ?? ''}">`;
  return html`${personId === null ? nameField : ''}
<input type="hidden" autocomplete="username" value="${email}">
${newPasswordField([email, name ?? ''])}
${personId === null ? '' : html`<p class="soft">Any earlier password for this address stops working, and you’re signed out everywhere.</p>`}`;
}
