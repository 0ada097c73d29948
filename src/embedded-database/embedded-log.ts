/** What the embedded database says to the operator; a pino logger fits. */
export interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
