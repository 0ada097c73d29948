/** Files that stay free for the database, for SMTP and for imports. */
const reserved = 512;

/** Connections that this process can hold open: as many as set, where the system allows so many open files (`ulimit -n`). */
export function capToOpenFileLimit(wanted: number): number {
  const report = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const files = Number(report.userLimits?.open_files?.soft);
  if (!Number.isSafeInteger(files) || files <= 0) return wanted;
  return Math.max(1, Math.min(wanted, Math.max(files - reserved, Math.floor(files / 2))));
}
