import { json, type RequestHandler, urlencoded } from 'express';
import { HttpError } from './errors.ts';

/** Forms and JSON of at most 16 KiB and 50 fields; no form of ours comes near. Any other kind of body is refused. */
export function bodies(): RequestHandler[] {
  const known: RequestHandler = (req, _res, next) => {
    const type = req.is(['application/x-www-form-urlencoded', 'application/json']);
    // null: there is no body.
    if (type === false)
      throw new HttpError('unsupportedType', { detail: `content type ${req.get('content-type') ?? 'absent'}` });
    next();
  };
  return [
    known,
    urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }),
    json({ limit: '16kb', strict: true }),
  ];
}
