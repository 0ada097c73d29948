import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { Ajv, type ValidateFunction } from 'ajv';
import { type TSchema, Type } from 'typebox';

/** Longer parts can't come from a browser within the size of a form. */
const part = Type.String({ maxLength: 16_384, pattern: '^[A-Za-z0-9_-]*$' });

const credentialId = Type.String({ minLength: 1, maxLength: 1_400, pattern: '^[A-Za-z0-9_-]+$' });

function answerSchema(response: TSchema) {
  return Type.Object({
    id: credentialId,
    rawId: credentialId,
    type: Type.Literal('public-key'),
    response,
    clientExtensionResults: Type.Object({}),
  });
}

const assertionSchema = answerSchema(
  Type.Object({
    clientDataJSON: part,
    authenticatorData: part,
    signature: part,
    userHandle: Type.Optional(part),
  }),
);

const registrationSchema = answerSchema(
  Type.Object({
    clientDataJSON: part,
    attestationObject: part,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 20 })),
  }),
);

const ajv = new Ajv();

/** A well-formed response of a browser to a passkey request, with the challenge that it claims to sign. */
export interface PasskeyAnswer<Response> {
  readonly response: Response;
  readonly challenge: string;
}

/** @returns undefined if the text isn't the JSON form of an assertion (WebAuthn Level 3, section 5.1.9) */
export function readAssertion(text: string): PasskeyAnswer<AuthenticationResponseJSON> | undefined {
  return readAnswer(ajv.compile<AuthenticationResponseJSON>(assertionSchema), text);
}

/** @returns undefined if the text isn't the JSON form of a registration */
export function readRegistration(
  text: string,
): PasskeyAnswer<RegistrationResponseJSON> | undefined {
  return readAnswer(ajv.compile<RegistrationResponseJSON>(registrationSchema), text);
}

function readAnswer<Response extends { readonly response: { readonly clientDataJSON: string } }>(
  isValid: ValidateFunction<Response>,
  text: string,
): PasskeyAnswer<Response> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isValid(value)) return undefined;
    const clientData: unknown = JSON.parse(
      Buffer.from(value.response.clientDataJSON, 'base64url').toString('utf8'),
    );
    const { challenge } = clientData as { readonly challenge?: unknown };
    return typeof challenge === 'string' ? { response: value, challenge } : undefined;
  } catch {
    return undefined;
  }
}
