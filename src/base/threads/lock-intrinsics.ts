/**
 * Keeps what a stranger writes, such as a parameter named `__proto__`, from adding members to all objects of the process. It is
 * the first import of every program and thread, because an isolate loads nothing before it that isn't Node's own.
 */

// `bin/signalpost` starts Node without it; this is for programs that are started in another way.
Reflect.deleteProperty(Object.prototype, '__proto__');
// Members stay writable: an object whose prototype has a read-only member couldn't have one of its own by assignment.
for (const intrinsic of [Object, Array, Function]) Object.preventExtensions(intrinsic.prototype);
