import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';

/** The class and the settings of docs/frameworks/spring.md, in an application context of Debian's Spring. */
const run = promisify(execFile);
const folder = temporaryFolder();
const { env, ca, requireReceipt, suppress } = await openFrameworkShop();
await writeFiles('docs/frameworks/spring.md', folder);
await writeFile(
  join(folder, 'Main.java'),
  `
import java.util.Properties;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.io.support.ResourcePropertySource;
import org.springframework.mail.MailException;
import org.springframework.mail.javamail.JavaMailSenderImpl;

/** Makes the sender of the settings as Spring Boot's MailSenderPropertiesConfiguration does, and sends to each argument. */
class Main {
    public static void main(String[] addresses) throws Exception {
        var context = new AnnotationConfigApplicationContext();
        var settings = context.getEnvironment();
        var source = new ResourcePropertySource("file:application.properties");
        settings.getPropertySources().addLast(source);
        var sender = new JavaMailSenderImpl();
        sender.setHost(settings.getProperty("spring.mail.host"));
        sender.setPort(settings.getProperty("spring.mail.port", Integer.class));
        sender.setUsername(settings.getProperty("spring.mail.username"));
        sender.setPassword(settings.getProperty("spring.mail.password"));
        var properties = new Properties();
        var prefix = "spring.mail.properties.";
        for (var name : source.getPropertyNames())
            if (name.startsWith(prefix))
                properties.put(name.substring(prefix.length()), settings.getProperty(name));
        sender.setJavaMailProperties(properties);
        context.getBeanFactory().registerSingleton("mailSender", sender);
        context.register(Receipts.class);
        context.refresh();
        for (var address : addresses) {
            try {
                context.getBean(Receipts.class).send("A-1001", address);
                System.out.println("sent");
            } catch (MailException error) {
                System.out.println(error.getClass().getSimpleName() + ": " + error.getMessage());
            }
        }
    }
}
`,
);
const spring = ['core', 'beans', 'context', 'context.support', 'aop', 'expression'];
const jars = [
  ...spring.map((name) => `spring3-${name}`),
  'commons-logging',
  'javax.mail',
  'javax.activation',
];
const classes = [folder, ...jars.map((name) => `/usr/share/java/${name}.jar`)].join(':');
const store = join(folder, 'authorities.p12');
const password = ['-storepass', 'authorities'];
await run('keytool', [
  '-importcert',
  '-noprompt',
  '-alias',
  'ca',
  '-file',
  ca,
  '-keystore',
  store,
  ...password,
]);
await run('javac', ['-Xlint:all,-path', '-Werror', '-cp', classes, 'Receipts.java', 'Main.java'], {
  cwd: folder,
});

/** Sends to addresses. @returns what came of each */
async function send(environment: object, ...addresses: string[]): Promise<string[]> {
  const trust = [
    `-Djavax.net.ssl.trustStore=${store}`,
    '-Djavax.net.ssl.trustStorePassword=authorities',
  ];
  const { stdout } = await run(
    'java',
    ['-XX:TieredStopAtLevel=1', ...trust, '-cp', classes, 'Main', ...addresses],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env, ...environment },
    },
  );
  return stdout.split(/\n(?=sent|Mail|$)/).filter((line) => line !== '');
}

test('a message of Spring arrives with both parts, once although it is sent twice', async () => {
  const to = 'ada@people.test';
  assert.deepEqual(await send({}, to, to), ['sent', 'sent']);
  await requireReceipt(to);
});

test('a refusal is an exception with the reply of the service', async () => {
  await suppress('gone@people.test');
  const [suppressed = ''] = await send({}, 'gone@people.test');
  assert.match(suppressed, /^MailSendException: .*550 5\.7\.1 Recipient suppressed/s);
  const [unknown = ''] = await send({ SMTP_PASSWORD: 'sp_wrong' }, 'ada@people.test');
  assert.match(unknown, /^MailAuthenticationException: .*535 5\.7\.8/s);
});
