import type { RequestHandler } from 'express';
import { accentThemes, type Tokens } from '../../config/accent.ts';
import { sha256 } from '../shared/index.ts';

interface BrandStylesheet {
  /** The address contains a hash of the content, so that browsers may cache it without expiry. */
  path: string;
  css: string;
}

const declarations = (tokens: Tokens) =>
  Object.entries(tokens)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

/** The brand's color as a stylesheet that is loaded after `foyer.css` and only changes its tokens. */
export function brandStylesheet(accent: string): BrandStylesheet {
  const { light, dark } = accentThemes(accent);
  const css = `:root{${declarations(light)}}@media (prefers-color-scheme:dark){:root{${declarations(dark)}}}\n`;
  const hash = sha256(css).slice(0, 8);
  return { path: `/assets/brand-${hash}.css`, css };
}

/** Serves the brand stylesheet; passes on all other requests. */
export function serveBrand({ path, css }: BrandStylesheet): RequestHandler {
  return (req, res, next) => {
    if (req.path !== path || (req.method !== 'GET' && req.method !== 'HEAD')) return next();
    res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    res.type('css').send(css);
  };
}
