import '../../base/threads/lock-intrinsics.ts';
import '../../base/threads/serve-thread.ts';
import { DnsClient } from '../../base/dns/dns-client.ts';
import { toBuffer } from '../../base/mime/mail-threads.ts';
import { serveThread } from '../../base/threads/serve-thread.ts';
import { authenticateReply } from './authenticate-reply.ts';
import type { ReplyAuthentication } from './reply-content.ts';
import type { ReplyJob } from './reply-reader.ts';

// mailauth prints a line about some signatures, which would end up in the service's log.
console.log = () => undefined;

// Loading it isn't part of a job's time.
await import('mailauth');

serveThread<ReplyJob, ReplyAuthentication>((job) => {
  const dns = new DnsClient(job.dnsServers, { timeoutMs: job.queryTimeoutMs });
  return authenticateReply(toBuffer(job.source), job.origin, dns, job.hostname, job.dnsTimeoutMs);
});
