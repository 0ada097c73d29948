import type { DomainDetail, DomainRecord } from '../api/management.generated.ts';
import type { TextKey } from '../texts/text.ts';
import { quoteRecordData } from './zone-file.ts';

export type ProviderId = NonNullable<DomainDetail['dnsProvider']>;

/** How a DNS provider asks for a record, by the names of its input boxes. */
interface ProviderForm {
  readonly name: TextKey;
  readonly value: TextKey;
  /** Box of the mail server of MX records, if it isn't `value`. */
  readonly server?: TextKey;
  /** Box of the target of CNAME records, if it isn't `value`. */
  readonly target?: TextKey;
  /** Undefined: the priority is part of the value. */
  readonly priority?: TextKey;
  /** What stands for the zone itself in the name box. */
  readonly apex: '@' | '';
  /** TXT values are entered in quotes, in parts of 255 characters. */
  readonly quoted?: true;
  /** Host names end in a dot; without it, the provider adds the zone. */
  readonly finalDot?: true;
}

const plain = {
  name: 'domains.box.name',
  value: 'domains.box.value',
  priority: 'domains.box.priority',
  apex: '@',
} as const;

const forms: Readonly<Record<ProviderId, ProviderForm>> = {
  azure: { ...plain, priority: 'domains.box.preference', server: 'domains.box.exchange' },
  cloudflare: {
    ...plain,
    value: 'domains.box.content',
    server: 'domains.box.server',
    target: 'domains.box.target',
  },
  digitalocean: { ...plain, name: 'domains.box.hostname', server: 'domains.box.server' },
  gandi: { ...plain, finalDot: true },
  godaddy: plain,
  'google-cloud': {
    name: 'domains.box.dnsName',
    value: 'domains.box.data',
    apex: '',
    quoted: true,
    finalDot: true,
  },
  hetzner: { ...plain, server: 'domains.box.server', finalDot: true },
  ionos: { ...plain, name: 'domains.box.host', server: 'domains.box.pointsTo' },
  namecheap: { ...plain, name: 'domains.box.host' },
  ovh: {
    ...plain,
    name: 'domains.box.subdomain',
    server: 'domains.box.target',
    apex: '',
    finalDot: true,
  },
  porkbun: { ...plain, name: 'domains.box.host', value: 'domains.box.answer', apex: '' },
  route53: { name: 'domains.box.recordName', value: 'domains.box.value', apex: '', quoted: true },
  vercel: { ...plain, apex: '' },
};

export const providerNames = Object.keys(forms) as ProviderId[];

/** An input box of the provider and what to put into it. */
export interface RecordBox {
  readonly label: TextKey;
  /** Empty: the box stays empty. */
  readonly value: string;
}

/**
 * What to put into which box for a record.
 * @param provider undefined: an unknown one, shown with full names
 * @param zone the zone whose records the provider shows; undefined if unknown
 */
export function recordBoxes(
  { name, type, expected }: DomainRecord,
  provider: ProviderId | undefined,
  zone: string | undefined,
): RecordBox[] {
  const [priority = '', server = ''] = expected.split(' ');
  if (provider === undefined) {
    const full = { label: 'domains.box.name', value: name } as const;
    if (type !== 'MX') return [full, { label: 'domains.box.value', value: expected }];
    return [
      full,
      { label: 'domains.box.server', value: server.replace(/\.$/, '') },
      { label: 'domains.box.priority', value: priority },
    ];
  }
  const form = forms[provider];
  const host = { label: form.name, value: nameInZone(name, zone, form.apex) };
  const withDot = (text: string) => (form.finalDot === true ? text : text.replace(/\.$/, ''));
  if (type === 'TXT')
    return [
      host,
      { label: form.value, value: form.quoted === true ? quoteRecordData(expected) : expected },
    ];
  if (type === 'CNAME')
    return [host, { label: form.target ?? form.value, value: withDot(expected) }];
  if (form.priority === undefined) return [host, { label: form.value, value: withDot(expected) }];
  return [
    host,
    { label: form.server ?? form.value, value: withDot(server) },
    { label: form.priority, value: priority },
  ];
}

/** A name as it is entered within its zone, which the provider adds. */
function nameInZone(name: string, zone: string | undefined, apex: string): string {
  if (zone === undefined) return name;
  if (name === zone) return apex;
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
