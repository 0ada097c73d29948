declare module 'libmime' {
  interface Libmime {
    /** Splits a header line at its colon and unfolds the value; the name is lowercased. */
    decodeHeader(line: string): { key: string; value: string };
    /** Decodes the encoded words (RFC 2047) of a header value. */
    decodeWords(value: string): string;
    /** Splits a structured value into its main part and parameters, continued and encoded ones included (RFC 2231). */
    parseHeaderValue(value: string): {
      value: string;
      params: Readonly<Record<string, string | undefined>>;
    };
  }
  const libmime: Libmime;
  // biome-ignore lint/style/noDefaultExport: the package exports its functions as one object
  export default libmime;
}
