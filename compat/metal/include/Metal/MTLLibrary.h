// SPDX-License-Identifier: Apache-2.0
// Libraries compiled from MSL, and their functions.
#ifndef INGOT_METAL_LIBRARY_H
#define INGOT_METAL_LIBRARY_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLFunctionDescriptor.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLArgumentEncoder;
@protocol MTLDevice;
@protocol MTLDynamicLibrary;

typedef NS_ENUM(NSUInteger, MTLPatchType) {
    MTLPatchTypeNone = 0,
    MTLPatchTypeTriangle = 1,
    MTLPatchTypeQuad = 2,
};

typedef NS_ENUM(NSUInteger, MTLFunctionType) {
    MTLFunctionTypeVertex = 1,
    MTLFunctionTypeFragment = 2,
    MTLFunctionTypeKernel = 3,
    MTLFunctionTypeVisible = 5,
    MTLFunctionTypeIntersection = 6,
    MTLFunctionTypeMesh = 7,
    MTLFunctionTypeObject = 8,
};

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
    MTLLanguageVersion1_0 = (1 << 16),
    MTLLanguageVersion1_1 = (1 << 16) + 1,
    MTLLanguageVersion1_2 = (1 << 16) + 2,
    MTLLanguageVersion2_0 = (2 << 16),
    MTLLanguageVersion2_1 = (2 << 16) + 1,
    MTLLanguageVersion2_2 = (2 << 16) + 2,
    MTLLanguageVersion2_3 = (2 << 16) + 3,
    MTLLanguageVersion2_4 = (2 << 16) + 4,
    MTLLanguageVersion3_0 = (3 << 16),
    MTLLanguageVersion3_1 = (3 << 16) + 1,
    MTLLanguageVersion3_2 = (3 << 16) + 2,
    MTLLanguageVersion4_0 = (4 << 16),
};

typedef NS_ENUM(NSInteger, MTLLibraryType) {
    MTLLibraryTypeExecutable = 0,
    MTLLibraryTypeDynamic = 1,
};

typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
    MTLLibraryOptimizationLevelDefault = 0,
    MTLLibraryOptimizationLevelSize = 1,
};

typedef NS_ENUM(NSInteger, MTLCompileSymbolVisibility) {
    MTLCompileSymbolVisibilityDefault = 0,
    MTLCompileSymbolVisibilityHidden = 1,
};

typedef NS_ENUM(NSInteger, MTLMathMode) {
    MTLMathModeSafe = 0,
    MTLMathModeRelaxed = 1,
    MTLMathModeFast = 2,
};

typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
    MTLMathFloatingPointFunctionsFast = 0,
    MTLMathFloatingPointFunctionsPrecise = 1,
};

MTL_EXTERN NSErrorDomain const MTLLibraryErrorDomain;

typedef NS_ENUM(NSUInteger, MTLLibraryError) {
    MTLLibraryErrorUnsupported = 1,
    MTLLibraryErrorInternal = 2,
    MTLLibraryErrorCompileFailure = 3,
    MTLLibraryErrorCompileWarning = 4,
    MTLLibraryErrorFunctionNotFound = 5,
    MTLLibraryErrorFileNotFound = 6,
};

MTL_EXPORT
@interface MTLCompileOptions : NSObject <NSCopying> {
    NSDictionary *_preprocessorMacros;
    MTLMathMode _mathMode;
    MTLMathFloatingPointFunctions _mathFloatingPointFunctions;
    MTLLanguageVersion _languageVersion;
    MTLLibraryType _libraryType;
    NSString *_installName;
    NSArray *_libraries;
    BOOL _preserveInvariance, _enableLogging, _allowReferencingUndefinedSymbols;
    MTLLibraryOptimizationLevel _optimizationLevel;
    MTLCompileSymbolVisibility _compileSymbolVisibility;
    NSUInteger _maxTotalThreadsPerThreadgroup;
    MTLSize _requiredThreadsPerThreadgroup;
}
@property (nullable, copy, readwrite, nonatomic)
    NSDictionary<NSString *, NSObject *> *preprocessorMacros;  // NSString or NSNumber
@property (readwrite, nonatomic) BOOL fastMathEnabled;
@property (readwrite, nonatomic) MTLMathMode mathMode;
@property (readwrite, nonatomic) MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property (readwrite, nonatomic) MTLLanguageVersion languageVersion;
@property (readwrite, nonatomic) MTLLibraryType libraryType;
@property (nullable, copy, readwrite, nonatomic) NSString *installName;
@property (nullable, copy, readwrite, nonatomic) NSArray<id<MTLDynamicLibrary>> *libraries;
@property (readwrite, nonatomic) BOOL preserveInvariance;
@property (readwrite, nonatomic) MTLLibraryOptimizationLevel optimizationLevel;
@property (readwrite, nonatomic) MTLCompileSymbolVisibility compileSymbolVisibility;
@property (readwrite, nonatomic) BOOL allowReferencingUndefinedSymbols;
@property (readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readwrite, nonatomic) MTLSize requiredThreadsPerThreadgroup;
@property (readwrite, nonatomic) BOOL enableLogging;
@end

MTL_EXPORT
@interface MTLFunctionConstant : NSObject {
    NSString *_name;
    MTLDataType _type;
    NSUInteger _index;
    BOOL _required;
}
@property (readonly) NSString *name;
@property (readonly) MTLDataType type;
@property (readonly) NSUInteger index;
@property (readonly) BOOL required;
@end

// A member of the [[stage_in]] structure.
MTL_EXPORT
@interface MTLAttribute : NSObject {
    NSString *_name;
    NSUInteger _attributeIndex;
    MTLDataType _attributeType;
}
@property (readonly) NSString *name;
@property (readonly) NSUInteger attributeIndex;
@property (readonly) MTLDataType attributeType;
@property (readonly, getter=isActive) BOOL active;
@property (readonly, getter=isPatchData) BOOL patchData;
@property (readonly, getter=isPatchControlPointData) BOOL patchControlPointData;
@end

// The same of a vertex function.
MTL_EXPORT
@interface MTLVertexAttribute : MTLAttribute
@end

typedef MTLArgument *MTLAutoreleasedArgument;

@protocol MTLFunction <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLFunctionType functionType;
@property (readonly) MTLPatchType patchType;
@property (readonly) NSInteger patchControlPointCount;
@property (nullable, readonly) NSArray<MTLVertexAttribute *> *vertexAttributes;
@property (nullable, readonly) NSArray<MTLAttribute *> *stageInputAttributes;
@property (readonly) NSString *name;
@property (readonly) NSDictionary<NSString *, MTLFunctionConstant *> *functionConstantsDictionary;
@property (readonly) MTLFunctionOptions options;
// For the struct of that buffer. nil if it is no struct, or the function is from a .metallib, which does not describe it.
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex
                                                 reflection:(MTLAutoreleasedArgument _Nullable *_Nullable)reflection;
@end

typedef void (^MTLFunctionCompletionHandler)(id<MTLFunction> _Nullable function, NSError *_Nullable error);

@protocol MTLLibrary <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) NSArray<NSString *> *functionNames;
@property (readonly) MTLLibraryType type;
@property (nullable, readonly) NSString *installName;
- (nullable id<MTLFunction>)newFunctionWithName:(NSString *)functionName;
- (nullable id<MTLFunction>)newFunctionWithName:(NSString *)name
                                 constantValues:(MTLFunctionConstantValues *)constantValues
                                          error:(NSError **)error;
- (void)newFunctionWithName:(NSString *)name
             constantValues:(MTLFunctionConstantValues *)constantValues
          completionHandler:(MTLFunctionCompletionHandler)completionHandler;
- (nullable id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor error:(NSError **)error;
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                completionHandler:(MTLFunctionCompletionHandler)completionHandler;
@end

NS_ASSUME_NONNULL_END

#endif
