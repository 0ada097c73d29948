import type { MessageContent } from '../../content/message/message-content.ts';
import { rawTemplateId, rawVersion } from '../../content/message/raw-message.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import { unsubscribeField } from '../../content/template/built-in-fields.ts';
import type { CompiledLink } from '../../content/template/compiled-template.ts';
import type { ValueScope } from '../../content/template/value-scope.ts';
import type { MailDecoration } from '../../sending/delivery/prepare-mail.ts';
import type { ClaimedMessage } from '../../sending/queue/attempt.ts';
import type { TrackingTokens } from './tracking-tokens.ts';

/** Links whose tracking URL would be longer aren't tracked, because some mail programs truncate long URLs. */
const maxAddressLength = 2_000;

/**
 * Tracking links and open pixel, only if the request asked for them.
 * @param base the account's public URL, without a trailing slash
 */
export function trackMessage(
  tokens: TrackingTokens,
  base: string,
  message: ClaimedMessage,
  content: MessageContent,
  template: LoadedTemplate,
): Pick<MailDecoration, 'rewriteLink' | 'bodyEnd'> {
  let bodyEnd = '';
  if (message.trackClicks && template.compiled.links.some((link) => link.trackable)) {
    bodyEnd += hiddenLink(linkAddress(undefined));
  }
  if (message.trackOpens) bodyEnd += image(`${base}/o/${tokens.makeOpen(message)}.gif`);
  if (!message.trackClicks) return { bodyEnd };
  return { bodyEnd, rewriteLink };

  function linkAddress(link: CompiledLink | undefined, item?: ValueScope): string {
    const { accountId, messageId, retentionDays, templateId, templateVersion } = message;
    const values = (link?.fields ?? []).map((name) =>
      item === undefined ? textOf(name) : item.text(name),
    );
    const index = link?.index;
    const token = tokens.makeLink({
      accountId,
      messageId,
      retentionDays,
      templateId,
      templateVersion,
      locale: template.compiled.locales && content.locale,
      index,
      values,
    });
    return `${base}/c/${token}`;
  }

  function textOf(name: string): string | undefined {
    const value = Object.hasOwn(content.values, name) ? content.values[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  }

  function rewriteLink(link: CompiledLink, url: string, item?: ValueScope): string {
    if (link.fields.includes(unsubscribeField)) return url;
    const address = linkAddress(link, item);
    return address.length > maxAddressLength ? url : address;
  }
}

/** Tracking for a message that was submitted complete: the token of a link has its target. */
export function trackRawMessage(
  tokens: TrackingTokens,
  base: string,
  message: ClaimedMessage,
): Pick<MailDecoration, 'htmlTracking'> {
  if (!message.trackOpens && !message.trackClicks) return {};
  const { accountId, messageId, retentionDays } = message;
  const addressOf = (index: number | undefined, values: readonly string[]): string => {
    const tracked = { accountId, messageId, retentionDays, index, values };
    const version = { templateId: rawTemplateId, templateVersion: rawVersion };
    return `${base}/c/${tokens.makeLink({ ...tracked, ...version })}`;
  };
  const rewriteUrl = (url: string, index: number): string => {
    const address = addressOf(index, [url]);
    return address.length > maxAddressLength ? url : address;
  };
  return {
    htmlTracking: {
      rewriteUrl: message.trackClicks ? rewriteUrl : undefined,
      hiddenLink: hiddenLink(addressOf(undefined, [])),
      bodyEnd: message.trackOpens ? image(`${base}/o/${tokens.makeOpen(message)}.gif`) : '',
    },
  };
}

/** Invisible, and hidden from screen readers and keyboards, so only a program follows it. */
function hiddenLink(address: string): string {
  return `<a href="${address}" style="display:none" tabindex="-1" aria-hidden="true" rel="nofollow"></a>`;
}

function image(address: string): string {
  return `<img src="${address}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`;
}
