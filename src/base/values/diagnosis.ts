/** The result of a check: a finding, and advice if something is wrong or could be better. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly finding: string;
  readonly advice?: string;
}

export function fine(finding: string, advice?: string): Diagnosis {
  return { ok: true, finding, ...(advice !== undefined && { advice }) };
}

export function problem(finding: string, advice?: string): Diagnosis {
  return { ok: false, finding, ...(advice !== undefined && { advice }) };
}
