import manifest from "../../package.json" with { type: "json" };

/** The version of this build, as in `muster --version` and every answer that names it. */
export const VERSION: string = manifest.version;
