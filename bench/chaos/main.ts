import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { migrate } from '../../src/base/database/migrate.ts';
import { type NodeRole, nodeRoles } from '../../src/base/threads/node-role.ts';
import { openSmallDisk } from '../../test/support/small-disk.ts';
import { makeTemporaryFolder, openBenchFolder } from '../bench-database.ts';
import { chooseBenchSubmission, makeBenchCertificate } from '../submission/submission-files.ts';
import { openChaosAccounts } from './chaos-accounts.ts';
import { ChaosEvents } from './chaos-events.ts';
import { faultNames, injectFaults, makeCounts } from './chaos-faults.ts';
import { ChaosLoad } from './chaos-load.ts';
import { ChaosNode } from './chaos-node.ts';
import { ChaosSmtpLoad } from './chaos-smtp-load.ts';
import { drainQueue } from './drain-queue.ts';
import { evaluateChaos } from './evaluate-chaos.ts';
import { evaluateSmtp } from './evaluate-smtp.ts';
import { startRoughSink, weathers } from './rough-sink.ts';

const program = new Command('npm run chaos --')
  .description(
    'Sends messages of all kinds, over HTTP and SMTP, to nodes that share a database, injects random faults, and compares what was accepted with ' +
      'what the receiver, the webhooks and a reader of the event feed got. Exits with 1 if a message was lost, came early or with ' +
      'other attachments, or came twice without an uncertain attempt on record, or if a webhook or the feed missed an event.',
  )
  .option('--minutes <n>', 'length of the load', Number, 1)
  .option('--json <file>', 'write the result to a file')
  .option('--nodes <n>', 'nodes of two processes each', Number, 2)
  .option('--roles', 'give three nodes other roles at each start, in all combinations')
  .option('--rate <n>', 'requests and SMTP messages a second', Number, 40)
  .option('--every <n>', 'seconds between faults', Number, 6)
  .addOption(new Option('--only <fault>', 'inject one fault, evenly').choices(faultNames))
  .parse();
const { minutes, json, nodes: nodeCount, roles, rate, every, only } = program.opts();
/** Of the rate. */
const smtpShare = 0.25;
/** Of three nodes; together they always have the roles that mail needs, and take every combination with one of these. */
const roleTurns = [combineRoles('http'), combineRoles('worker'), combineRoles('smtp')];
const print = (text: string): void => void process.stdout.write(`${text}\n`);

await using closing = new AsyncDisposableStack();
const disk = await openSmallDisk();
closing.defer(() => disk.remove());
const { url, database } = closing.use(await openBenchFolder(disk.path, { maxConnections: 3 }));
await migrate(database);
const accounts = await openChaosAccounts(database, '46100', '46200');
const sink = await startRoughSink();
closing.defer(() => sink.stop());
const certificate = await makeBenchCertificate(closing.use(await makeTemporaryFolder()).path);
const nodes = await Promise.all(
  Array.from(
    { length: roles ? roleTurns.length : nodeCount },
    async (_, index) =>
      new ChaosNode(
        url,
        sink.port,
        await chooseBenchSubmission(certificate.files),
        roles ? roleTurns[index] : undefined,
      ),
  ),
);
const running = nodes.map((node) => node.run());
closing.defer(async () => {
  await Promise.all(nodes.map((node) => node.end()));
  await Promise.all(running);
});
while (nodes.some((node) => node.url === undefined)) await delay(50);
const targets = await accounts.readTargets({ url: nodes[0]?.url ?? '' });
const { accountIds } = accounts;
const login = await accounts.makeLogin();
const overHttp = new ChaosLoad(nodes, [targets], { perSecond: rate * (1 - smtpShare) });
const overSmtp = new ChaosSmtpLoad(nodes, login, rate * smtpShare);
const events = await ChaosEvents.open(database, nodes, accountIds);
closing.defer(() => events.stop());
const stopLoad = () => Promise.all([overHttp.stop(), overSmtp.stop()]);
closing.defer(async () => void (await stopLoad()));
print(`${nodes.length} nodes, ${rate} requests a second, ${minutes} minutes`);
if (!disk.canFill) print('Without "fill disk": only root can put the database on a separate disk.');
const weather = makeCounts(weathers);
const until = Date.now() + minutes * 60_000;
const scene = { nodes, disk, sink, weather };
const faults = await injectFaults(scene, until, every * 1_000, only);
await stopLoad();
const stillWaiting = await drainQueue(database, accountIds);
const verdict = await evaluateChaos(database, accountIds, overHttp, sink);
const smtp = await evaluateSmtp(database, login.accountId, overSmtp, sink);
const followed = await events.evaluate(database);
const sentTo = new Set([...sink.received.keys()].map((copy) => copy.split(' ')[1]));
const result = {
  ...verdict,
  smtp,
  events: followed,
  kills: faultNames.reduce((sum, name) => sum + (name.startsWith('kill') ? faults[name] : 0), 0),
  faults,
  weather,
  unanswered: overHttp.unanswered,
  refused: overHttp.refused.size,
  refusedButSent: sentTo.intersection(overHttp.refused).size,
  stillWaiting,
  nodes: nodes.length,
  minutes,
};
const text = JSON.stringify(result, null, 2);
print(text);
if (json !== undefined) await writeFile(json, `${text}\n`);
const { lost, doubled, damaged, early } = verdict;
const wrongOverSmtp = smtp.lost + smtp.doubled + smtp.storedTwice + smtp.damaged + smtp.refused;
const wrongEvents = followed.notPushed + followed.notRead + followed.repeated;
process.exitCode = lost + doubled + damaged + early + wrongOverSmtp + wrongEvents === 0 ? 0 : 1;

/** All combinations of roles with this one, in a random order. */
function combineRoles(base: NodeRole): NodeRole[][] {
  const others = nodeRoles.filter((role) => role !== base);
  const combinations = Array.from({ length: 2 ** others.length }, (_, chosen) => [
    base,
    ...others.filter((_role, place) => (chosen & (1 << place)) !== 0),
  ]);
  return combinations
    .map((combination) => ({ combination, order: Math.random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ combination }) => combination);
}
