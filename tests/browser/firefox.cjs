// Playwright's driver asks every page of Firefox for a colour scheme, by a command that Firefox ESR 153 does not know. Loaded into the
// driver by NODE_OPTIONS, this leaves the question out. If the driver's text changes, Firefox answers "unknown command" again.

const Module = require("node:module");

const compile = Module.prototype._compile;
Module.prototype._compile = function (text, path, ...others) {
  const ours = path.endsWith("coreBundle.js") ? text.replace(/await this\.[\w.]+\.send\("emulation\.setMediaFeaturesOverride"/g, "return; $&") : text;
  return compile.call(this, ours, path, ...others);
};
