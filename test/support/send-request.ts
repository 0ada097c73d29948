/** A complete response of the service. */
export interface TextResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The members of a JSON object body; otherwise empty. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends one request and reads the complete response. */
export async function sendRequest(url: string, init?: RequestInit): Promise<TextResponse> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
