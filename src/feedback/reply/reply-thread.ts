import '../../foundation/lower-thread-priority.ts';
import { DnsClient } from '../../foundation/dns/dns-client.ts';
import { serveThread } from '../../foundation/serve-thread.ts';
import { authenticateReply } from './authenticate-reply.ts';
import { parseReplyMail } from './parse-reply.ts';
import type { ParsedReply, ReplyAuthentication } from './reply-content.ts';
import type { ReplyJob } from './reply-reader.ts';

// mailauth prints a line about some signatures, which would end up in the service's log.
console.log = () => undefined;

// Loading them isn't part of a job's time.
await Promise.all([import('mailauth'), import('mailparser')]);

serveThread<ReplyJob, ParsedReply | ReplyAuthentication>((job) => {
  const source = Buffer.from(job.source.buffer, job.source.byteOffset, job.source.byteLength);
  if (job.kind === 'parse') return parseReplyMail(source, job.origin.envelopeFrom);
  const dns = new DnsClient(job.dnsServers, { timeoutMs: job.queryTimeoutMs });
  return authenticateReply(source, job.origin, dns, job.hostname, job.dnsTimeoutMs);
});
