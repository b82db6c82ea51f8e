/** Behind an app's logo stands our own sign, for when it does not load; one that has loaded may be see-through. */
for (const picture of document.querySelectorAll<HTMLImageElement>('.app-logo img')) {
  const loaded = () => {
    if (picture.naturalWidth > 0) picture.previousElementSibling?.remove();
  };
  if (picture.complete) loaded();
  else picture.addEventListener('load', loaded);
}

export {};
