import { type Attributes, type Context, type Link, TraceFlags, trace } from '@opentelemetry/api';
import { type Sampler, SamplingDecision, type SamplingResult } from '@opentelemetry/sdk-trace';

/**
 * Keeps what belongs together: spans follow their parent in this process, and traces that are linked to a sampled one
 * are sampled too. All others are decided by the operator's sampler.
 */
export class FollowSampler implements Sampler {
  readonly #others: Sampler;

  constructor(others: Sampler) {
    this.#others = others;
  }

  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: number,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    const parent = trace.getSpanContext(context);
    if (parent !== undefined && parent.isRemote !== true) return decide(parent.traceFlags);
    if (links.some((link) => isSampled(link.context.traceFlags))) return decide(TraceFlags.SAMPLED);
    return this.#others.shouldSample(context, traceId, name, kind, attributes, links);
  }

  toString(): string {
    return `Follow{${this.#others.toString()}}`;
  }
}

function isSampled(flags: TraceFlags): boolean {
  return (flags & TraceFlags.SAMPLED) !== 0;
}

function decide(flags: TraceFlags): SamplingResult {
  return {
    decision: isSampled(flags) ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  };
}
