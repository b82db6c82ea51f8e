import type { AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { checkedAs, parseStored } from '../store/index.ts';

const text = z.string().optional();

/** The properties on which the stores of the provider's records depend; the library checks the others. */
const schema = checkedAs<AdapterPayload>(
  z.looseObject({
    accountId: text,
    clientId: text,
    exp: z.number().optional(),
    grantId: text,
    jti: text,
    uid: text,
    userCode: text,
  }),
);

/** A record that the library gave to the store as JSON. @throws {StoredDataInvalid} */
export const parsePayload = (json: string): AdapterPayload => parseStored(schema, json);
