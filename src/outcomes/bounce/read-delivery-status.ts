import { MailFields } from '../../base/mime/header-fields.ts';

/** One recipient of a delivery status notification (RFC 3464 section 2.3). */
export interface RecipientStatus {
  /** failed, delayed, delivered, relayed or expanded; in lower case. */
  readonly action: string;
  /** RFC 3463, if the report has one. */
  readonly status: string | undefined;
  /** The diagnostic code's text without its type. */
  readonly diagnostic: string;
}

const maxGroups = 101;
const maxDiagnosticLength = 4_000;
/** RFC 3463 section 3.5: the delivery time expired. Some programs write it as the action. */
const expired = '5.4.7';

const statusPattern = /\b([245]\.\d{1,3}\.\d{1,3})\b/;

/** Parses the recipients of a `message/delivery-status` part. If Action is missing, it is derived from the status. */
export function readDeliveryStatus(text: string): RecipientStatus[] {
  const groups = text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .slice(0, maxGroups)
    .map((group) => new MailFields(Buffer.from(group)));
  return groups
    .filter(
      (group) =>
        group.has('final-recipient') ||
        group.has('original-recipient') ||
        group.has('status') ||
        group.has('action'),
    )
    .map((group) => {
      const status = statusPattern.exec(group.get('status') ?? '')?.[1];
      const diagnostic = (group.get('diagnostic-code') ?? '')
        .slice(0, maxDiagnosticLength)
        .replace(/^[\w.-]{1,40}\s*;\s*/, '');
      const given = /^[a-z]{1,40}/.exec((group.get('action') ?? '').toLowerCase())?.[0];
      if (given === 'expired') return { action: 'failed', status: status ?? expired, diagnostic };
      return { action: given ?? actionOf(status), status, diagnostic };
    });
}

function actionOf(status: string | undefined): string {
  if (status?.startsWith('2') === true) return 'delivered';
  return status?.startsWith('4') === true ? 'delayed' : 'failed';
}
