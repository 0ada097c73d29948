import type { SubmittedForm } from '../provider/form-data.ts';
import { invalidMember } from '../provider/members.ts';

const lists = ['to', 'cc', 'bcc', 'attachment', 'inline', 'o:tag'];
const isChoice = /^(?:o:(?!tag$|deliverytime$)|t:text$)/;

/** The form as an object: `h:` and `v:` fields are together. @throws Fault VALIDATION_FAILED */
export function toMembers(form: SubmittedForm): Readonly<Record<string, unknown>> {
  const groups = new Map<string, [string, unknown][]>();
  const members: [string, unknown][] = [];
  for (const [name, values] of form) {
    const prefix = /^[hv]:/.exec(name)?.[0];
    const [value] = values;
    if (values.length > 1 && !lists.includes(name))
      throw invalidMember(name, 'is given more than once');
    if (prefix !== undefined) {
      const group = groups.get(`${prefix}*`) ?? [];
      groups.set(`${prefix}*`, [...group, [name.slice(2), value]]);
    } else if (lists.includes(name)) members.push([name, values]);
    else if (isChoice.test(name) && typeof value === 'string')
      members.push([name, value.toLowerCase()]);
    else members.push([name, value]);
  }
  for (const [name, group] of groups) members.push([name, Object.fromEntries(group)]);
  return Object.fromEntries(members);
}
