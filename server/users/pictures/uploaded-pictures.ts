import type { RequestHandler } from 'express';
import { setPictureHeaders } from '../../http/index.ts';
import type { Database } from '../../store/index.ts';
import { findUploaded } from './picture-store.ts';

const namePattern = /^\/([\w-]{22})$/;

/** Answers GET and HEAD of uploaded pictures; other requests are the next handler's. */
export function uploadedPictures({ db }: Database): RequestHandler {
  return async (req, res, next) => {
    const name = namePattern.exec(req.path)?.[1];
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    const picture = isRead && name !== undefined ? await findUploaded(db, name) : undefined;
    if (picture === undefined) return next();
    // A changed picture has another name.
    setPictureHeaders(res, `"${name}"`);
    if (req.get('if-none-match') === `"${name}"`) return void res.status(304).end();
    res.set({ 'Content-Type': picture.type, 'Content-Length': String(picture.bytes.length) });
    res.end(req.method === 'HEAD' ? undefined : picture.bytes);
  };
}
