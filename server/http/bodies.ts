import { json, type RequestHandler, urlencoded } from 'express';
import { HttpError } from './errors.ts';

/** JSON alone, of at most 16 KiB: for the calls of the API. */
export function jsonBody(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    // null: there is no body, which the call's description then misses.
    if (req.is('application/json') === false)
      throw new HttpError('unsupportedType', { detail: `content type ${req.get('content-type') ?? 'absent'}` });
    next();
  };
  return [known, json({ limit: '16kb', strict: true })];
}

/** Forms and JSON of at most 16 KiB and 50 fields; no form of ours comes near. Any other kind of body is refused. */
export function bodies(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    const type = req.is(['application/x-www-form-urlencoded', 'application/json']);
    // null: there is no body; one of no bytes is none either, and browsers' scripts send such without a type.
    if (type === false && req.get('content-length') !== '0')
      throw new HttpError('unsupportedType', { detail: `content type ${req.get('content-type') ?? 'absent'}` });
    next();
  };
  return [
    known,
    urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }),
    json({ limit: '16kb', strict: true }),
  ];
}
