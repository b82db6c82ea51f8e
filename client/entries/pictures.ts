/**
 * The initial of an app is behind its logo, in case it does not load; it is removed after the load, because a logo may
 * be transparent.
 */
for (const picture of document.querySelectorAll<HTMLImageElement>('.app-logo img')) {
  const loaded = () => {
    if (picture.naturalWidth > 0) picture.previousElementSibling?.remove();
  };
  if (picture.complete) loaded();
  else picture.addEventListener('load', loaded);
}

export {};
