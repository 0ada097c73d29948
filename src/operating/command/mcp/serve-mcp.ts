import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { readReleaseVersion } from '../read-version.ts';
import type { CommandShell } from '../shell.ts';
import { connectTo } from '../types.ts';
import { readTools } from './read-tools.ts';
import { registerTool } from './tool.ts';
import { writeTools } from './write-tools.ts';

const instructions = `Signalpost sends one email to one person because something happened.
To find out why an email hasn't arrived: find_messages by recipient, then explain_message, then find_suppressions or check_domains.`;

/**
 * `mcp`: serves tools for agents (Model Context Protocol) over standard input and output until the input ends. What the
 * tools may do is what the API key may do.
 * @throws TypesFailure if the address or the key is malformed
 */
export async function serveMcp(
  shell: CommandShell,
  { url, allowWrite = false }: { readonly url?: string; readonly allowWrite?: boolean },
): Promise<void> {
  const connection = connectTo(url, shell);
  const version = await readReleaseVersion();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  process.stdin.once('end', resolve).once('close', resolve);
  serveStdio(
    () => {
      const server = new McpServer({ name: 'signalpost', version }, { instructions });
      for (const tool of allowWrite ? [...readTools, ...writeTools] : readTools)
        registerTool(server, connection, tool);
      return server;
    },
    { onerror: (error) => shell.err(`signalpost: ${error.message}\n`) },
  );
  await ended;
}
