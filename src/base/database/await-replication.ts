/**
 * An expression that makes its statement's commit wait for the synchronous standby, for responses that rest on what was read.
 * After a crash of the primary, commits are visible that never reached its standby, and a statement that writes nothing
 * doesn't wait for them.
 */
export const awaitReplication = "pg_logical_emit_message(true, 'signalpost', '')";
