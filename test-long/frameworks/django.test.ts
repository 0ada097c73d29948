import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';

/** The settings and the function of docs/frameworks/django.md, in a project of Debian's Django. */
const run = promisify(execFile);
const folder = temporaryFolder();
const { env, ca, mailTo, requireReceipt, suppress } = await openFrameworkShop();
await writeFiles('docs/frameworks/django.md', folder);
await writeFile(
  join(folder, 'project.py'),
  `
from mail_settings import *

SECRET_KEY = "a secret of the tests"
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
ROOT_URLCONF = "urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
`,
);
await writeFile(
  join(folder, 'urls.py'),
  `
from django.urls import include, path

urlpatterns = [path("accounts/", include("django.contrib.auth.urls"))]
`,
);
await writeFile(
  join(folder, 'main.py'),
  `
import sys
import django
django.setup()
from receipts import send_receipt

def try_to(send):
    try:
        send()
        print("sent")
    except Exception as error:
        print(type(error).__name__, error)

def reset(address):
    from django.contrib.auth.forms import PasswordResetForm
    from django.contrib.auth.models import User
    from django.core.management import call_command
    call_command("migrate", verbosity=0)
    User.objects.create_user("ada", address, "the forgotten password")
    form = PasswordResetForm({"email": address})
    assert form.is_valid()
    form.save(domain_override="shop.test", use_https=True)

def forge(address):
    from django.core.mail import send_mail
    send_mail("Hello", "Hello", "stranger@elsewhere.test", [address])

program = {"receipt": lambda address: send_receipt("A-1001", address), "reset": reset, "forge": forge}
for argument in sys.argv[1:]:
    name, address = argument.split(" ")
    try_to(lambda: program[name](address))
`,
);

/** Does things with addresses, in one process. @returns what came of each */
async function perform(tasks: readonly string[], environment: object = {}): Promise<string[]> {
  const { PATH } = process.env;
  const project = { PATH, ...env, SSL_CERT_FILE: ca, DJANGO_SETTINGS_MODULE: 'project' };
  // Debian's packages are for Debian's Python.
  const { stdout } = await run('/usr/bin/python3', ['main.py', ...tasks], {
    cwd: folder,
    env: { ...project, ...environment },
  });
  return stdout.trimEnd().split('\n');
}

await suppress('gone@people.test');
const [first, second, reset, gone = '', forged = ''] = await perform([
  'receipt ada@people.test',
  'receipt ada@people.test',
  'reset reset@people.test',
  'receipt gone@people.test',
  'forge ada@people.test',
]);

test('a message of Django arrives with both parts, once although it is sent twice', async () => {
  assert.deepEqual([first, second], ['sent', 'sent']);
  await requireReceipt('ada@people.test');
});

test('a password reset of Django is sent with the same settings', async () => {
  assert.equal(reset, 'sent');
  const mail = await mailTo('reset@people.test', 'Password reset on shop.test');
  assert.deepEqual(mail.headers.from, ['Demo Shop <orders@shop.test>']);
  assert.match(mail.text ?? '', /^https:\/\/shop\.test\/accounts\/reset\/\w+\/[\w-]+\/$/m);
});

test('a refusal is an exception with the reply of the service', async () => {
  assert.match(gone, /^SMTPRecipientsRefused .*550, b'5\.7\.1 Recipient suppressed/);
  assert.match(forged, /^SMTPDataError \(550, b'5\.7\.1 Sender not allowed/);
  const [unknown = ''] = await perform(['receipt ada@people.test'], { SMTP_PASSWORD: 'sp_no' });
  assert.match(unknown, /^SMTPAuthenticationError \(535, b'5\.7\.8/);
});
