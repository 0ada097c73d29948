import { ManagementProblem } from '../../template-types/management-connection.ts';
import { type CommandShell, printResult } from '../shell.ts';
import { type FolderTemplate, readTemplateFolder } from './read-template-folder.ts';
import {
  openTemplates,
  readTemplateFolders,
  type TemplateOptions,
} from './run-template-command.ts';
import { hashTemplate } from './template-files.ts';
import type { ServiceTemplate, TemplateService } from './template-service.ts';
import { TemplateState } from './template-state.ts';

interface PlannedPush {
  readonly local: FolderTemplate;
  readonly hash: string;
  readonly remote: ServiceTemplate | undefined;
}

const pullFirst =
  'it was changed on the service since your last pull. Run `signalpost template pull`, merge, and push again, or overwrite it with --force';

/**
 * `template push`: saves the templates of a folder as drafts, or publishes them. Templates that are already up to
 * date aren't touched, and nothing is changed if one has changed on the service since the last pull.
 * @returns the exit code: 0, or 1 for conflicts
 */
export async function pushTemplates(
  ids: readonly string[],
  options: TemplateOptions,
  shell: CommandShell,
): Promise<number> {
  if (options.react !== undefined) {
    const { compileReactTemplates } = await import('./react-templates.ts');
    await compileReactTemplates(options.react, options.dir);
  }
  const templates = await readTemplateFolders(ids, options.dir);
  const { service, state } = await openTemplates(options, shell);
  const planned: PlannedPush[] = [];
  const conflicts: string[] = [];
  for (const local of templates) {
    const plan = { local, hash: hashTemplate(local.code), remote: await service.read(local.id) };
    planned.push(plan);
    if (options.force !== true && (await isUnseen(plan, service, state, options)))
      conflicts.push(local.id);
  }
  for (const id of conflicts) shell.err(`${id}: ${pullFirst}\n`);
  if (conflicts.length > 0) {
    shell.err('Nothing was pushed.\n');
    return 1;
  }
  let code = 0;
  for (const plan of planned) if (!(await pushOne(plan, service, state, options, shell))) code = 1;
  return code;
}

/** Content that is neither the folder's, nor what was seen last, nor what `--base` has. */
async function isUnseen(
  { local: { id }, hash, remote }: PlannedPush,
  service: TemplateService,
  state: TemplateState,
  { base }: TemplateOptions,
): Promise<boolean> {
  if (remote?.code === undefined) return false;
  const current = hashTemplate(remote.code);
  if (current === hash || current === state.seen(id)) return false;
  if (base === undefined) return true;
  if (current === (await TemplateState.open(base, service.place)).seen(id)) return false;
  const earlier = await readTemplateFolder(base, id);
  return earlier === undefined || hashTemplate(earlier.code) !== current;
}

/** @returns false if it failed, which is told */
async function pushOne(
  { local, hash, remote }: PlannedPush,
  service: TemplateService,
  state: TemplateState,
  { publish = false, allowBreaking = false, json = false }: TemplateOptions,
  shell: CommandShell,
): Promise<boolean> {
  const { id } = local;
  const say = (result: string): boolean => {
    printResult(shell, { json }, `${id}: ${result}`, { id, result });
    return true;
  };
  const isSame = remote?.code !== undefined && hashTemplate(remote.code) === hash;
  const isDraft = remote?.hasDraft === true || remote?.publishedVersion === null;
  if (isSame && !(publish && isDraft)) {
    await state.remember(id, hash);
    return say(`unchanged (${remote.hasDraft ? 'draft' : `version ${remote.publishedVersion}`})`);
  }
  try {
    const etag = isSame ? remote.draftEtag : await service.save(local, remote);
    const version = remote?.publishedVersion ?? null;
    // A publication between reading and saving removes the draft that it came from, so the tag of a draft can't show it.
    if ((await service.publishedVersion(id)) !== version) {
      await service.discardDraft(id, etag);
      shell.err(`${id}: ${pullFirst}\n`);
      return false;
    }
    await state.remember(id, hash);
    if (!publish) return say('saved as draft');
    const published = await service.publish(id, etag, allowBreaking);
    for (const note of published.notes) shell.err(`${id}: ${note}\n`);
    return say(`published as version ${published.version}`);
  } catch (error) {
    if (!(error instanceof ManagementProblem)) throw error;
    shell.err(`${id}: ${describe(error)}\n`);
    return false;
  }
}

function describe({ status, code, message }: ManagementProblem): string {
  if (status === 412) return pullFirst;
  if (code === 'breaks-callers')
    return `${message}. The draft is saved. Publish it anyway with --allow-breaking`;
  if (message.includes('createdBy'))
    return `${message}. Add createdBy to its template.yaml: the email of a user of the account`;
  return message;
}
