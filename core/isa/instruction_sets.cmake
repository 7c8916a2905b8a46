# One copy of some sources per instruction set, to choose from at run time.
# Takes isa_sources, what is compiled for each; sets isa_objects and isa_definitions. Needs the target
# core_options.
set(isa_objects)
set(isa_definitions)

function(add_isa name)
  add_library(kernels_${name} OBJECT ${isa_sources})
  target_link_libraries(kernels_${name} PRIVATE core_options)
  target_compile_definitions(kernels_${name} PRIVATE SOFTMODES_ISA=${name})
  target_compile_options(kernels_${name} PRIVATE ${ARGN})
  set_target_properties(kernels_${name} PROPERTIES UNITY_BUILD OFF) # as one unit they were 6 % slower
  set(isa_objects ${isa_objects} $<TARGET_OBJECTS:kernels_${name}> PARENT_SCOPE)
endfunction()

set(SOFTMODES_KERNEL_OPTIONS "$<$<NOT:$<CXX_COMPILER_ID:MSVC>>:-O3>" CACHE STRING
  "Compiler options for the row kernels")
if(NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$")
  # Nearly every CPU takes another set: -O3 takes a third of the time of the whole build.
  string(REPLACE "-O3" "-O2" portable_options "${SOFTMODES_KERNEL_OPTIONS}")
  add_isa(generic ${portable_options})
else()
  add_isa(generic ${SOFTMODES_KERNEL_OPTIONS})
endif()
if(NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND isa_definitions SOFTMODES_X86)
  add_isa(ssse3 ${SOFTMODES_KERNEL_OPTIONS} -mssse3)
  add_isa(avx2 ${SOFTMODES_KERNEL_OPTIONS} -mavx2)
  add_isa(avx512 ${SOFTMODES_KERNEL_OPTIONS} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi
    -mavx512bitalg -mavx512vpopcntdq -mavx512vnni -mgfni -mbmi2 -mprefer-vector-width=512
    -Wno-uninitialized -Wno-maybe-uninitialized) # GCC 12 warns of its own intrinsics
elseif(NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND isa_definitions SOFTMODES_NEON)
  add_isa(neon ${SOFTMODES_KERNEL_OPTIONS})
endif()
