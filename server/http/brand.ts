import type { Express } from 'express';
import { accentThemes, grounds, type Tokens } from '../../config/accent.ts';
import { sha256 } from '../shared/index.ts';
import { drawTouchIcon } from './touch-icon.ts';

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

/** A file of the brand; its address contains a hash of what it is made from. */
interface BrandFile {
  path: string;
  type: string;
  read(): string | Buffer;
}

/** The sign on the dark green of Foyer's own icon. */
const ownColor = '#0b3d36';

interface BrandLook {
  name: string;
  /** Undefined: Foyer's own. */
  accent: string | undefined;
  /** The address of the icon in the tab. */
  icon: string | undefined;
}

/** The files for home screens: the web manifest (W3C) and the icon of iOS, which is drawn at the first request. */
export function homeScreenFiles({ name, accent, icon }: BrandLook): Record<'manifest' | 'touchIcon', BrandFile> {
  const color = accent === undefined ? ownColor : (accentThemes(accent).light.accent ?? ownColor);
  const touchPath = `/assets/touch-${sha256(color).slice(0, 8)}.png`;
  const manifest = JSON.stringify({
    name,
    short_name: name,
    start_url: '/',
    display: 'browser',
    background_color: grounds.light.paper,
    theme_color: grounds.light.paper,
    icons: [
      ...(icon === undefined ? [] : [{ src: icon, sizes: 'any', type: 'image/svg+xml' }]),
      { src: touchPath, sizes: '180x180', type: 'image/png' },
    ],
  });
  let drawn: Buffer | undefined;
  return {
    manifest: {
      path: `/assets/brand-${sha256(manifest).slice(0, 8)}.webmanifest`,
      type: 'application/manifest+json',
      read: () => manifest,
    },
    touchIcon: {
      path: touchPath,
      type: 'image/png',
      read() {
        drawn ??= drawTouchIcon(color);
        return drawn;
      },
    },
  };
}

export const stylesheetFile = ({ path, css }: BrandStylesheet): BrandFile => ({
  path,
  type: 'text/css',
  read: () => css,
});

/** Adds a route for each file: other requests do not pass through any of this. */
export function addBrandRoutes(app: Pick<Express, 'get'>, files: readonly BrandFile[]): void {
  for (const { path, type, read } of files) {
    app.get(path, (_req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
      res.type(type).send(read());
    });
  }
}
