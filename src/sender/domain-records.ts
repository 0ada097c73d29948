import type { DomainRecord, PublicDkimKey, SendingDomain, ServiceNames } from './sending-domain.ts';

/** The DNS records of a domain, exactly as they must be published. */
export function domainRecords(
  domain: Pick<SendingDomain, 'domain' | 'returnPath' | 'trackingHost'>,
  keys: readonly PublicDkimKey[],
  service: ServiceNames,
): DomainRecord[] {
  const name = domain.domain;
  const anyActive = keys.some((key) => key.state === 'active');
  const dkim = keys
    .filter((key) => key.state !== 'retired')
    .map(
      (key): DomainRecord => ({
        kind: 'dkim',
        name: `${key.selector}._domainkey.${name}`,
        type: 'TXT',
        value: key.record,
        required: key.state === 'active' || !anyActive,
        why:
          key.state === 'active'
            ? 'Receiving servers verify the signature of every message with this key (RFC 6376).'
            : 'This key starts signing once the record is found (RFC 6376).',
      }),
    );
  const tracking: DomainRecord[] =
    domain.trackingHost === undefined || service.trackingTarget === undefined
      ? []
      : [
          {
            kind: 'tracking',
            name: domain.trackingHost,
            type: 'CNAME',
            value: `${service.trackingTarget}.`,
            required: false,
            why: 'Makes tracked links use your own domain.',
          },
        ];
  return [
    ...dkim,
    {
      kind: 'spf',
      name: domain.returnPath,
      type: 'TXT',
      value: spfRecord(service, '-all'),
      required: true,
      why: 'Allows this service to send mail with this return path (RFC 7208).',
    },
    {
      kind: 'return-path',
      name: domain.returnPath,
      type: 'MX',
      value: `10 ${service.host}.`,
      required: true,
      why: 'Returns bounces to this service.',
    },
    {
      kind: 'dmarc',
      name: `_dmarc.${name}`,
      type: 'TXT',
      value: `v=DMARC1; p=none; rua=mailto:dmarc@${name}`,
      required: true,
      why: 'Large mailbox providers require every sending domain to have a DMARC policy (RFC 7489). Any valid policy works.',
    },
    {
      kind: 'from-spf',
      name,
      type: 'TXT',
      value: spfRecord(service, '~all'),
      required: false,
      why: 'Some receiving servers also check SPF of the From domain. If you already have an SPF record, add this mechanism to it.',
    },
    ...tracking,
  ];
}

/** RFC 7208 section 4.5. */
function spfRecord({ addresses, host }: ServiceNames, all: string): string {
  const mechanisms =
    addresses.length === 0
      ? [`a:${host}`]
      : addresses.map((address) => `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`);
  return ['v=spf1', ...mechanisms, all].join(' ');
}
