import { type BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { expandIpv6, isListed, toBlockList, unmapIpv4 } from '../../base/network/ip-address.ts';
import type { ReaderEventKind } from '../../content/message/event-kinds.ts';
import { knownAgents, knownNetworks, type ReaderClass } from './known-readers.ts';

/** What a request reveals about its reader. */
export interface ReaderTraits {
  readonly kind: ReaderEventKind;
  readonly userAgent: string;
  readonly address: string;
  /** The hidden link was followed, which people can't see. */
  readonly hidden: boolean;
  /** Sec-Purpose, Purpose or X-Moz marks it as a prefetch. */
  readonly prefetch: boolean;
}

export interface ReaderVerdict {
  readonly class: ReaderClass;
  /** Display text. A reader counts as a person unless something indicates otherwise. */
  readonly reason: string;
}

const maxAgentLength = 500;

/** Shared, because nearly all verdicts in memory are the same. */
const person: ReaderVerdict = { class: 'person', reason: 'no sign of a scanner or prefetch' };
const hiddenLink: ReaderVerdict = { class: 'scanner', reason: 'followed the hidden link' };
const noAgent: ReaderVerdict = { class: 'scanner', reason: 'no user agent' };
const prefetched: ReaderVerdict = { class: 'prefetch', reason: 'fetched ahead by the browser' };

/** Classifies a reader by the request alone. Never throws, no side effects. */
export function classifyReader(traits: ReaderTraits): ReaderVerdict {
  if (traits.hidden) return hiddenLink;
  const agent = traits.userAgent.slice(0, maxAgentLength);
  if (agent.trim() === '') return noAgent;
  const known = findAgent(agent);
  if (known !== undefined) return known;
  const network = findNetwork(traits.kind, traits.address);
  if (network !== undefined) return network;
  return traits.prefetch ? prefetched : person;
}

/** Cache by user agent: there are few distinct ones, and matching the patterns is the slowest step. */
const agents = new LRUCache<string, { readonly verdict: ReaderVerdict | undefined }>({
  max: 2_000,
});

function findAgent(agent: string): ReaderVerdict | undefined {
  const cached = agents.get(agent);
  if (cached !== undefined) return cached.verdict;
  const entry = knownAgents.find((known) => known.agent.test(agent));
  const verdict = entry && { class: entry.class, reason: `user agent: ${entry.name}` };
  agents.set(agent, { verdict });
  return verdict;
}

interface LoadedNetwork {
  readonly verdict: ReaderVerdict;
  readonly for: 'opened' | 'clicked' | 'both';
  readonly list: BlockList;
}

const networks: readonly LoadedNetwork[] = knownNetworks.map((entry) => ({
  verdict: { class: entry.class, reason: `network: ${entry.name}` },
  for: entry.for,
  list: toBlockList(entry.networks),
}));
/** Rules out nearly all readers with one lookup. */
const allNetworks = toBlockList(knownNetworks.flatMap((entry) => entry.networks));

function findNetwork(kind: ReaderTraits['kind'], address: string): ReaderVerdict | undefined {
  if (!isListed(allNetworks, address)) return undefined;
  return networks.find(
    (entry) => (entry.for === 'both' || entry.for === kind) && isListed(entry.list, address),
  )?.verdict;
}

/**
 * Truncates an address to its network, so that individual readers aren't stored: 24 bits of IPv4, 48 of IPv6. Empty if
 * it isn't an address.
 */
export function truncateAddress(address: string): string {
  const plain = unmapIpv4(address);
  const family = isIP(plain);
  if (family === 4) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (family === 0) return '';
  return `${expandIpv6(plain).slice(0, 3).join(':')}::/48`;
}
