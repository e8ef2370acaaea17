import fc from 'fast-check';

/** For runs that are compared with each other: the same cases every time. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_130 });
