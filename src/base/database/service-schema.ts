/** The service's own schema. Installations that began with 0.1 are in `public`. */
export const serviceSchema = 'signalpost';
