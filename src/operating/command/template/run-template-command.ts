import { OperatorError } from '../../../base/values/errors.ts';
import { TypesFailure } from '../../../content/template-types/management-connection.ts';
import { ManifestError } from '../../manifest/manifest-problems.ts';
import type { CommandShell } from '../shell.ts';
import { connectTo } from '../types.ts';
import {
  describeFolderProblems,
  type FolderTemplate,
  listTemplateFolders,
  readTemplateFolder,
  TemplateState,
} from './template-folder.ts';
import { TemplateService } from './template-service.ts';

export interface TemplateOptions {
  readonly dir: string;
  readonly url?: string;
  readonly base?: string;
  /** Component files of React Email. */
  readonly react?: readonly string[];
  readonly force?: boolean;
  readonly publish?: boolean;
  readonly allowBreaking?: boolean;
  readonly exitCode?: boolean;
}

interface OpenTemplates {
  readonly service: TemplateService;
  readonly state: TemplateState;
}

/** @throws TypesFailure */
export async function openTemplates(
  { url, dir }: TemplateOptions,
  shell: CommandShell,
): Promise<OpenTemplates> {
  const service = new TemplateService(connectTo(url, shell));
  return { service, state: await TemplateState.open(dir, service.place) };
}

/** The requested ones, or all. @throws TypesFailure if one doesn't exist */
export function chooseTemplates(
  asked: readonly string[],
  existing: readonly string[],
  place: string,
): readonly string[] {
  if (asked.length === 0) return existing;
  const missing = asked.filter((id) => !existing.includes(id));
  if (missing.length > 0) throw new TypesFailure(`${place} has no template ${missing.join(', ')}`);
  return asked;
}

/**
 * The templates of a folder, all of them valid.
 * @throws OperatorError with the problems of all templates
 */
export async function readTemplateFolders(
  ids: readonly string[],
  folder: string,
): Promise<FolderTemplate[]> {
  const templates: FolderTemplate[] = [];
  let problems = '';
  for (const id of chooseTemplates(ids, await listTemplateFolders(folder), folder)) {
    try {
      const template = await readTemplateFolder(folder, id);
      if (template !== undefined) templates.push(template);
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      problems += describeFolderProblems(id, error);
    }
  }
  if (problems !== '')
    throw new OperatorError(`the templates have problems:\n${problems.trimEnd()}`);
  if (templates.length === 0) throw new TypesFailure(`${folder} has no templates`);
  return templates;
}
