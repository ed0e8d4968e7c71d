const NAME = Symbol.for('fastify.display-name')

/**
 * Gives a plugin the name of its function. For one without a name, Fastify searches all loaded modules: that took a
 * sixth of the time in which an API with many routes is built.
 */
export function named<Plugin extends (...args: never[]) => unknown>(plugin: Plugin): Plugin {
  return Object.assign(plugin, { [NAME]: plugin.name })
}
