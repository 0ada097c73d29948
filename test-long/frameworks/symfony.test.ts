import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';

/** The configuration and the class of docs/frameworks/symfony.md, in a kernel of Debian's Symfony. */
const run = promisify(execFile);
const folder = temporaryFolder();
const { shop, env, ca, requireReceipt, suppress } = await openFrameworkShop();
await writeFiles('docs/frameworks/symfony.md', folder);
await writeFile(
  join(folder, 'main.php'),
  `<?php
use App\\Receipts;
use Symfony\\Bundle\\FrameworkBundle\\{FrameworkBundle, Kernel\\MicroKernelTrait};
use Symfony\\Component\\DependencyInjection\\Loader\\Configurator\\ContainerConfigurator;
use Symfony\\Component\\HttpKernel\\Kernel;
use Symfony\\Component\\Mailer\\Exception\\TransportException;

foreach (['Bundle/FrameworkBundle', 'Component/Mailer', 'Component/Yaml'] as $package) {
    require "Symfony/$package/autoload.php";
}
require 'src/Receipts.php';

final class App extends Kernel
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle()];
    }

    protected function configureContainer(ContainerConfigurator $container): void
    {
        $container->extension('framework', ['secret' => 'a secret of the tests']);
        $container->import('config/packages/mailer.yaml');
        $container->services()->set(Receipts::class)->autowire()->public();
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }
}

$app = new App('prod', false);
$app->boot();
foreach (array_slice($argv, 1) as $address) {
    try {
        $app->getContainer()->get(Receipts::class)->send('A-1001', $address);
        echo "sent\\n";
    } catch (TransportException $error) {
        echo $error->getCode(), ' ', strtr($error->getMessage(), "\\r\\n", '  '), "\\n";
    }
}
`,
);

/** Sends to addresses. @returns what came of each */
async function send(addresses: readonly string[], environment: object = {}): Promise<string[]> {
  const { PATH } = process.env;
  const port = String(shop.service.app.submissionPorts().tlsPort);
  const trust = ['-d', `openssl.cafile=${ca}`];
  const { stdout } = await run('php', [...trust, 'main.php', ...addresses], {
    cwd: folder,
    env: { PATH, ...env, SMTP_PORT: port, ...environment },
  });
  return stdout.trimEnd().split('\n');
}

await suppress('gone@people.test');
const [first, second, gone = ''] = await send([
  'ada@people.test',
  'ada@people.test',
  'gone@people.test',
]);

test('a message of Symfony Mailer arrives with both parts, once although it is sent twice', async () => {
  assert.deepEqual([first, second], ['sent', 'sent']);
  await requireReceipt('ada@people.test');
});

test('a refusal is an exception with the reply of the service', async () => {
  assert.match(gone, /^550 .* got code "550", with message "550 5\.7\.1 Recipient suppressed"/);
  const [unknown = ''] = await send(['ada@people.test'], { SMTP_PASSWORD: 'sp_no' });
  assert.match(unknown, /^\d+ Failed to authenticate on SMTP server .*535 5\.7\.8/);
  const [closed = ''] = await send(['ada@people.test'], { SMTP_PORT: String(await freePort()) });
  assert.match(closed, /^0 Connection could not be established .*Unable to connect/);
});

test('the certificate is checked', async () => {
  const [refused = ''] = await send(['ada@people.test'], { SMTP_HOST: '127.0.0.1' });
  assert.match(refused, /^0 .*Peer certificate subjectAltName did not match expected name/);
});
