// SPDX-License-Identifier: Apache-2.0
#import <Metal/MTLLibrary.h>

@implementation MTLCompileOptions
@synthesize preprocessorMacros = _preprocessorMacros, mathMode = _mathMode,
            mathFloatingPointFunctions = _mathFloatingPointFunctions, languageVersion = _languageVersion,
            libraryType = _libraryType, installName = _installName, libraries = _libraries,
            preserveInvariance = _preserveInvariance, optimizationLevel = _optimizationLevel,
            compileSymbolVisibility = _compileSymbolVisibility,
            allowReferencingUndefinedSymbols = _allowReferencingUndefinedSymbols,
            maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup,
            requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup, enableLogging = _enableLogging;

- (id)init {
    if (!(self = [super init])) return nil;
    _mathMode = MTLMathModeFast;
    _languageVersion = MTLLanguageVersion3_1;
    return self;
}

- (void)dealloc {
    [_preprocessorMacros release];
    [_installName release];
    [_libraries release];
    [super dealloc];
}

- (BOOL)fastMathEnabled {
    return _mathMode == MTLMathModeFast;
}

- (void)setFastMathEnabled:(BOOL)enabled {
    _mathMode = enabled ? MTLMathModeFast : MTLMathModeSafe;
    _mathFloatingPointFunctions = enabled ? MTLMathFloatingPointFunctionsFast : MTLMathFloatingPointFunctionsPrecise;
}

- (id)copyWithZone:(NSZone *)zone {
    MTLCompileOptions *copy = [[[self class] allocWithZone:zone] init];
    copy.preprocessorMacros = _preprocessorMacros;
    copy.installName = _installName;
    copy.libraries = _libraries;
    copy->_mathMode = _mathMode;
    copy->_mathFloatingPointFunctions = _mathFloatingPointFunctions;
    copy->_languageVersion = _languageVersion;
    copy->_libraryType = _libraryType;
    copy->_preserveInvariance = _preserveInvariance;
    copy->_optimizationLevel = _optimizationLevel;
    copy->_compileSymbolVisibility = _compileSymbolVisibility;
    copy->_allowReferencingUndefinedSymbols = _allowReferencingUndefinedSymbols;
    copy->_maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
    copy->_requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup;
    copy->_enableLogging = _enableLogging;
    return copy;
}
@end
